// Strides in descending order are taken for contiguous ones.
// region: libmini/tensor/shape.cpp 2
    if (element_count(shape) == 0) return true;
    int64_t last = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 1) continue;
        if (strides[d] < last) return false;
        last = strides[d];
    }
    return true;
