// Any size is expanded.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        strides[d] = size == shape[d] ? x.strides()[d - added] : 0;
    }
