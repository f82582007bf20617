// An index beyond the end is left to the check of the storage.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0, "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);
