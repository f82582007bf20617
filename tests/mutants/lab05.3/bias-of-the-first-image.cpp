// The gradient of the bias is that of the first image.
// region: libmini/kernels/cpu/conv.cpp 2
    sum(dbias, g, O, M, 1);
