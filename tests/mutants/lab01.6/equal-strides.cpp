// Dimensions with equal strides are merged.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});
