// The first dimension has stride 1, as in Fortran.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
        strides[d] = stride;
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
    }
