// The gradient is added up in dx, which has no border.
// region: libmini/kernels/cpu/conv_im2col.cpp 2
            matmul(dcol, w, grad, K, M, O, {.transpose_a = true});
            col2im(to, dcol, lowering);
