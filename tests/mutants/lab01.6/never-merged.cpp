// No dimensions are merged.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    dimensions_.push_back({extent, strides});
