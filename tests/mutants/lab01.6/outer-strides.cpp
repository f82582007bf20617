// A merged dimension has the outer strides.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back() = {dimensions_.back().extent * extent, strides};
    else
        dimensions_.push_back({extent, strides});
