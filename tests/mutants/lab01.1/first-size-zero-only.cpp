// Only a first dimension of size 0 is noticed.
// region: libmini/tensor/shape.cpp 2
    if (!shape.empty() && shape[0] == 0) return true;
    int64_t expected = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != expected) return false;
        expected *= shape[d];
    }
    return true;
