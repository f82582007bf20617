// A negative dimension is not checked.
// region: libmini/tensor/shape.cpp
    if (d < 0) return static_cast<size_t>(d + dims);
    check_shape(d < dims, function, ": there is no dimension ", d);
    return static_cast<size_t>(d);
