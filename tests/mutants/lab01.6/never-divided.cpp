// The number of the run is not divided by the extents.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
    }
