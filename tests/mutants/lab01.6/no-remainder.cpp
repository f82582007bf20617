// The whole rest of the number is the index of each dimension.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k) offsets[k] += run * dimension.strides[k];
        run /= dimension.extent;
    }
