// Every piece begins at the front of its run.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = 0 * index;
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }
