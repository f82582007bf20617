// A negative dimension is an error.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d;
    check_shape(from_front >= 0 && from_front < dims, function, ": a tensor of shape ",
                shape, " has no dimension ", d);
    return static_cast<size_t>(from_front);
