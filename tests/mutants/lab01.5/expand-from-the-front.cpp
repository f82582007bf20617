// The dimensions of x are the first ones of the shape.
// region: libmini/tensor/broadcast.cpp 2
    for (size_t d = 0; d < x.shape().size(); ++d) {
        const int64_t size = x.shape()[d];
        check_shape(size == shape[d] || size == 1, "expand: no");
        strides[d] = size == 1 ? 0 : x.strides()[d];
    }
