// The size of the first dimension is never multiplied, so never checked.
// region: libmini/tensor/shape.cpp 1
    for (size_t d = shape.size(); d-- > 0;)
        strides[d] = d + 1 == shape.size()
                         ? 1
                         : checked_product(strides[d + 1],
                                           std::max<int64_t>(shape[d + 1], 1), shape);
