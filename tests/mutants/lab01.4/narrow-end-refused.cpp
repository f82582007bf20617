// An empty part at the end is refused.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start < x.shape()[d] &&
                    start <= x.shape()[d] - length,
                "narrow: no");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);
