// Goes size steps in each dimension, not size - 1.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d)
        position =
            checked_sum(position, checked_product(shape[d], strides[d], shape), shape);
    return position;
