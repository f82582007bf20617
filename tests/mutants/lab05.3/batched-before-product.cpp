// From 32 rows on it is im2col_batched where that fits, not product.
// region: libmini/kernels/cpu/conv.cpp 1
    if (direct::fits(in, window)) return kDirect;
    if (im2col_batched::fits(in, window)) return kBatched;
    return rows >= kProductRows ? kProduct : kIm2col;
