// Only dimension 1 is added, as if there were no others.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    if (dimensions_.size() > 1)
        for (size_t k = 0; k < Arrays; ++k) offsets[k] += run * dimensions_[1].strides[k];
