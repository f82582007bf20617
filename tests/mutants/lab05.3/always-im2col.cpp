// Every convolution is lowered.
// region: libmini/kernels/cpu/conv.cpp 1
    return kIm2col;
