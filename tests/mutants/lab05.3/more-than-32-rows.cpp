// 32 rows are not enough for product.
// region: libmini/kernels/cpu/conv.cpp 1
    if (direct::fits(in, window)) return kDirect;
    if (rows > kProductRows) return kProduct;
    return im2col_batched::fits(in, window) ? kBatched : kIm2col;
