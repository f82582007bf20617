// --- bias-always-there
// A convolution without bias reads it all the same.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
            im2col(col, image, lowering);
            for (int64_t o = 0; o < O; ++o) std::fill_n(out + o * M, M, bias[o]);
            matmul(out, w, col, O, M, K, {.accumulate = true});

// --- bias-by-position
// The bias changes from position to position, not from channel to channel.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
            im2col(col, image, lowering);
            for (int64_t k = 0; k < O * M; ++k) out[k] = bias ? bias[k % O] : 0.0f;
            matmul(out, w, col, O, M, K, {.accumulate = true});

// --- border-left-out
// The gradient is added up in dx, which has no border.
// region: libmini/kernels/cpu/conv_im2col.cpp 2
            matmul(dcol, w, grad, K, M, O, {.transpose_a = true});
            col2im(to, dcol, lowering);

// --- first-image-of-the-batch
// Only the first image of the batch sets the sum, not that of each chunk.
// region: libmini/kernels/cpu/conv_im2col.cpp 3
            im2col(col, image, lowering);
            matmul(out, grad, col, O, K, M, {.transpose_b = true, .accumulate = n > 0});

// --- last-image-only
// The product of each image replaces the sum of its chunk.
// region: libmini/kernels/cpu/conv_im2col.cpp 3
            im2col(col, image, lowering);
            matmul(out, grad, col, O, K, M, {.transpose_b = true});

// --- product-replaces-bias
// The product overwrites the bias.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
            im2col(col, image, lowering);
            for (int64_t o = 0; o < O; ++o)
                std::fill_n(out + o * M, M, bias ? bias[o] : 0.0f);
            matmul(out, w, col, O, M, K);

// --- weights-not-transposed
// The gradient of x reads the weights (O, K) as if they were (K, O).
// region: libmini/kernels/cpu/conv_im2col.cpp 2
            matmul(dcol, w, grad, K, M, O);
            col2im(image, dcol, lowering);
