// Whether direct fits is not asked.
// region: libmini/kernels/cpu/conv.cpp 1
    return rows >= kProductRows ? kProduct : kDirect;
