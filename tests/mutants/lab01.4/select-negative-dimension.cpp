// A negative dimension is removed at a wrong place.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    const int64_t offset = x.offset() + index * x.strides()[d];
    Shape shape, strides;
    for (int64_t i = 0; i < x.dim(); ++i)
        if (i != std::max<int64_t>(dim, 0)) {
            shape.push_back(x.shape()[static_cast<size_t>(i)]);
            strides.push_back(x.strides()[static_cast<size_t>(i)]);
        }
    return x.as_strided(std::move(shape), std::move(strides), offset);
