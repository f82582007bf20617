// The runs are numbered with the outermost index changing fastest.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = dimensions_.size(); d-- > 1;) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }
