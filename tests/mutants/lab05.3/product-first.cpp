// From 32 rows on it is product, also where direct fits.
// region: libmini/kernels/cpu/conv.cpp 1
    if (rows >= kProductRows) return kProduct;
    if (direct::fits(in, window)) return kDirect;
    return im2col_batched::fits(in, window) ? kBatched : kIm2col;
