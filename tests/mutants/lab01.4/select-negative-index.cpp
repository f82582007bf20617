// -1 is the last index, as in PyTorch.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= -x.shape()[d] && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset =
        x.offset() + (index < 0 ? index + x.shape()[d] : index) * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);
