// Only the first image of the batch sets the sum, not that of each chunk.
// region: libmini/kernels/cpu/conv_im2col.cpp 3
            im2col(col, image, lowering);
            matmul(out, grad, col, O, K, M, {.transpose_b = true, .accumulate = n > 0});
