// --- bound-included
// Dimension n of n dimensions is accepted.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims : d;
    check_shape(from_front >= 0 && from_front <= dims, function,
                ": there is no dimension ", d);
    return static_cast<size_t>(from_front);

// --- contiguous-strides
// The result is contiguous: a new shape for the same order.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        const size_t d = dimension("permute", x.shape(), dim);
        check_shape(!seen[d], "permute: a dimension is named twice");
        seen[d] = true;
        shape.push_back(x.shape()[d]);
    }
    strides = contiguous_strides(shape);

// --- from-the-front-only
// A negative dimension is an error.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d;
    check_shape(from_front >= 0 && from_front < dims, function, ": a tensor of shape ",
                shape, " has no dimension ", d);
    return static_cast<size_t>(from_front);

// --- function-not-named
// The message does not say which function was called.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims : d;
    check_shape(from_front >= 0 && from_front < dims, "a tensor of shape ", shape,
                " has no dimension ", d, " ", function);
    return static_cast<size_t>(from_front);

// --- inverse
// Dimension d of x becomes dimension dims[d], the inverse order.
// region: libmini/tensor/view_ops.cpp
    shape.resize(dims.size());
    strides.resize(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
        const size_t d = dimension("permute", x.shape(), dims[i]);
        check_shape(!seen[d], "permute: a dimension is named twice");
        seen[d] = true;
        shape[d] = x.shape()[i];
        strides[d] = x.strides()[i];
    }

// --- neighbours-compared
// Only equal neighbours are noticed.
// region: libmini/tensor/view_ops.cpp
    for (size_t i = 0; i < dims.size(); ++i) {
        check_shape(i == 0 || dims[i] != dims[i - 1], "permute: named twice");
        const size_t d = dimension("permute", x.shape(), dims[i]);
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }

// --- one-off
// -1 is the dimension before the last.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims - 1 : d;
    check_shape(from_front >= 0 && from_front < dims, function, ": a tensor of shape ",
                shape, " has no dimension ", d);
    return static_cast<size_t>(from_front);

// --- repeats-allowed
// A dimension may be named twice.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        const size_t d = dimension("permute", x.shape(), dim);
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }

// --- scalar-has-one
// A scalar is taken to have one dimension.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + std::max<int64_t>(dims, 1) : d;
    check_shape(from_front >= 0 && from_front < std::max<int64_t>(dims, 1), function,
                ": there is no dimension ", d);
    return static_cast<size_t>(from_front);

// --- sizes-only
// The sizes are reordered, the strides are not.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        const size_t d = dimension("permute", x.shape(), dim);
        check_shape(!seen[d], "permute: a dimension is named twice");
        seen[d] = true;
        shape.push_back(x.shape()[d]);
    }
    strides = x.strides();

// --- spellings-compared
// Dimensions are compared before negative ones are counted from the end.
// region: libmini/tensor/view_ops.cpp
    for (const int64_t dim : dims) {
        check_shape(std::ranges::count(dims, dim) == 1, "permute: named twice");
        const size_t d = dimension("permute", x.shape(), dim);
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }

// --- unchecked-end
// A dimension beyond the last is accepted.
// region: libmini/tensor/shape.cpp
    const int64_t from_front = d < 0 ? d + dims : d;
    check_shape(from_front >= 0, function, ": there is no dimension ", d);
    return static_cast<size_t>(from_front);

// --- unchecked-front
// A negative dimension is not checked.
// region: libmini/tensor/shape.cpp
    if (d < 0) return static_cast<size_t>(d + dims);
    check_shape(d < dims, function, ": there is no dimension ", d);
    return static_cast<size_t>(d);

// --- wraps-around
// Any number names a dimension, modulo their number.
// region: libmini/tensor/shape.cpp
    check_shape(dims > 0, function, ": a scalar has no dimension ", d);
    return static_cast<size_t>((d % dims + dims) % dims);
