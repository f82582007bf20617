// The message does not say which function was called.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims : d;
    check_shape(from_front >= 0 && from_front < dims, "a tensor of shape ", shape,
                " has no dimension ", d, " ", function);
    return static_cast<size_t>(from_front);
