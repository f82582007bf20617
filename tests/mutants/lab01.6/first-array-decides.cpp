// The strides of the first array decide alone.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    if (!dimensions_.empty() &&
        strides[0] == dimensions_.back().extent * dimensions_.back().strides[0])
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});
