// Only the products are checked for an overflow.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d)
        position += checked_product(shape[d] - 1, strides[d], shape);
    return position;
