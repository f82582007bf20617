// A convolution without bias reads it all the same.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
            im2col(col, image, lowering);
            for (int64_t o = 0; o < O; ++o) std::fill_n(out + o * M, M, bias[o]);
            matmul(out, w, col, O, M, K, {.accumulate = true});
