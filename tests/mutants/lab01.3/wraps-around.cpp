// Any number names a dimension, modulo their number.
// region: libmini/tensor/shape.cpp
    check_shape(dims > 0, function, ": a scalar has no dimension ", d);
    return static_cast<size_t>((d % dims + dims) % dims);
