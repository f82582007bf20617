// Dimensions are compared before negative ones are counted from the end.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        check_shape(std::ranges::count(dims, dim) == 1, "permute: named twice");
        const size_t d = dimension("permute", x.shape(), dim);
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }
