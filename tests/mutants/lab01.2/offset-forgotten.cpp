// The offset is not added.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d)
        position = checked_sum(position, checked_product(shape[d] - 1, strides[d], shape),
                               shape);
    return position;
