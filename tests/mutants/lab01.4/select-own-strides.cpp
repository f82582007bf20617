// The strides are those of a contiguous tensor of the new shape.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides = contiguous_strides(shape);
    return x.as_strided(std::move(shape), std::move(strides), offset);
