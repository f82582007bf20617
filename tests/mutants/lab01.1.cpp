// --- all-strides-compared
// Strides that are not used are compared, too.
// region: libmini/tensor/shape.cpp 2
    return strides == contiguous_strides(shape);

// --- descending-strides
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

// --- empty-compared
// Strides of a tensor without elements are compared.
// region: libmini/tensor/shape.cpp 2
    int64_t expected = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != expected) return false;
        expected *= shape[d];
    }
    return true;

// --- first-size-unchecked
// The size of the first dimension is never multiplied, so never checked.
// region: libmini/tensor/shape.cpp 1
    for (size_t d = shape.size(); d-- > 0;)
        strides[d] = d + 1 == shape.size()
                         ? 1
                         : checked_product(strides[d + 1],
                                           std::max<int64_t>(shape[d + 1], 1), shape);

// --- first-size-zero-only
// Only a first dimension of size 0 is noticed.
// region: libmini/tensor/shape.cpp 2
    if (!shape.empty() && shape[0] == 0) return true;
    int64_t expected = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != expected) return false;
        expected *= shape[d];
    }
    return true;

// --- from-the-front
// The first dimension has stride 1, as in Fortran.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
        strides[d] = stride;
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
    }

// --- in-bytes
// Strides count bytes, as in NumPy.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 4;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
    }

// --- last-stride-only
// Only the last stride is compared.
// region: libmini/tensor/shape.cpp 2
    if (element_count(shape) == 0 || shape.empty()) return true;
    return shape.back() == 1 || strides.back() == 1;

// --- own-size-included
// A stride includes the size of its own dimension.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
        strides[d] = stride;
    }

// --- size-of-the-next
// A stride is the size of the next dimension only.
// region: libmini/tensor/shape.cpp 1
    element_count(shape);
    for (size_t d = 0; d < shape.size(); ++d)
        strides[d] = d + 1 < shape.size() ? std::max<int64_t>(shape[d + 1], 1) : 1;

// --- size-one-compared
// The stride of a dimension of size 1 is compared.
// region: libmini/tensor/shape.cpp 2
    return element_count(shape) == 0 || strides == contiguous_strides(shape);

// --- unchecked
// The products may overflow.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= std::max<int64_t>(shape[d], 1);
    }

// --- zero-multiplies
// A size of 0 makes all strides before it 0.
// region: libmini/tensor/shape.cpp 1
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride = checked_product(stride, shape[d], shape);
    }
