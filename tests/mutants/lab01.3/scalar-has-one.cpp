// A scalar is taken to have one dimension.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + std::max<int64_t>(dims, 1) : d;
    check_shape(from_front >= 0 && from_front < std::max<int64_t>(dims, 1), function,
                ": there is no dimension ", d);
    return static_cast<size_t>(from_front);
