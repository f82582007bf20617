// Goes to the last index of the first dimension only.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    if (shape.empty()) return offset;
    return checked_sum(offset, checked_product(shape[0] - 1, strides[0], shape), shape);
