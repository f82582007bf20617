// The gradient of x reads the weights (O, K) as if they were (K, O).
// region: libmini/kernels/cpu/conv_im2col.cpp 2
            matmul(dcol, w, grad, K, M, O);
            col2im(image, dcol, lowering);
