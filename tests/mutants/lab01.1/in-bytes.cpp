// Strides count bytes, as in NumPy.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 4;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
    }
