// A stride includes the size of its own dimension.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
        strides[d] = stride;
    }
