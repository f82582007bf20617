// A dimension may be named twice.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        const size_t d = dimension("permute", x.shape(), dim);
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }
