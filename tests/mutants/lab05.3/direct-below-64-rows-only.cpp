// The limit of the gradient of w holds for everything.
// region: libmini/kernels/cpu/conv.cpp 1
    if (rows < kDirectWeightRows && direct::fits(in, window)) return kDirect;
    if (rows >= kProductRows) return kProduct;
    return im2col_batched::fits(in, window) ? kBatched : kIm2col;
