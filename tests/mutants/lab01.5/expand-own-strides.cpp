// Sizes that stay get contiguous strides.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1, "expand: no");
        strides[d] = size == 1 ? 0 : contiguous_strides(x.shape())[d - added];
    }
