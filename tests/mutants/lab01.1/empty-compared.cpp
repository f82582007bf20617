// Strides of a tensor without elements are compared.
// region: libmini/tensor/shape.cpp 2
    int64_t expected = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != expected) return false;
        expected *= shape[d];
    }
    return true;
