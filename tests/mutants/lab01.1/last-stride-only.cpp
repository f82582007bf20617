// Only the last stride is compared.
// region: libmini/tensor/shape.cpp 2
    if (element_count(shape) == 0 || shape.empty()) return true;
    return shape.back() == 1 || strides.back() == 1;
