// The bias changes from position to position, not from channel to channel.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
            im2col(col, image, lowering);
            for (int64_t k = 0; k < O * M; ++k) out[k] = bias ? bias[k % O] : 0.0f;
            matmul(out, w, col, O, M, K, {.accumulate = true});
