// Dimensions merge if the strides of any array allow it.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = false;
    for (size_t k = 0; !dimensions_.empty() && k < Arrays; ++k)
        merges |= strides[k] == dimensions_.back().extent * dimensions_.back().strides[k];
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});
