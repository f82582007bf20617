// The strides are those of a contiguous tensor of the new shape.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length,
                "narrow: not in the dimension");
    Shape shape = x.shape();
    shape[d] = length;
    Shape strides = contiguous_strides(shape);
    return x.as_strided(std::move(shape), std::move(strides),
                        x.offset() + start * x.strides()[d]);
