// The product of each image replaces the sum of its chunk.
// region: libmini/kernels/cpu/conv_im2col.cpp 3
            im2col(col, image, lowering);
            matmul(out, grad, col, O, K, M, {.transpose_b = true});
