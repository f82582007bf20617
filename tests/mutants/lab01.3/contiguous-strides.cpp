// The result is contiguous: a new shape for the same order.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        const size_t d = dimension("permute", x.shape(), dim);
        check_shape(!seen[d], "permute: a dimension is named twice");
        seen[d] = true;
        shape.push_back(x.shape()[d]);
    }
    strides = contiguous_strides(shape);
