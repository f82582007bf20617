// -1 is the dimension before the last.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims - 1 : d;
    check_shape(from_front >= 0 && from_front < dims, function, ": a tensor of shape ",
                shape, " has no dimension ", d);
    return static_cast<size_t>(from_front);
