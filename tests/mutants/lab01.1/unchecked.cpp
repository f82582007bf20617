// The products may overflow.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= std::max<int64_t>(shape[d], 1);
    }
