// A tensor without elements gets a last element.
// region: libmini/tensor/shape.cpp
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d)
        position += (shape[d] - 1) * strides[d];
    return position;
