// The last argument is taken for the end, not for the length.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= start && length <= x.shape()[d], "narrow: no");
    Shape shape = x.shape();
    shape[d] = length - start;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);
