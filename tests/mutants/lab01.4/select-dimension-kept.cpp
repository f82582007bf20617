// The dimension stays, with size 1.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    shape[d] = 1;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + index * x.strides()[d]);
