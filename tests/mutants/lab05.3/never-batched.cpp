// im2col_batched is left out.
// region: libmini/kernels/cpu/conv.cpp 1
    if (direct::fits(in, window)) return kDirect;
    return rows >= kProductRows ? kProduct : kIm2col;
