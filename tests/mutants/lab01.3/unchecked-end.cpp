// A dimension beyond the last is accepted.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims : d;
    check_shape(from_front >= 0, function, ": there is no dimension ", d);
    return static_cast<size_t>(from_front);
