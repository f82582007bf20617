// A size of 0 makes all strides before it 0.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride = checked_product(stride, shape[d], shape);
    }
