// --- narrow-contiguous-offset
// The offset is computed by the strides of a contiguous tensor.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length,
                "narrow: not in the dimension");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * contiguous_strides(x.shape())[d]);

// --- narrow-end-given
// The last argument is taken for the end, not for the length.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= start && length <= x.shape()[d], "narrow: no");
    Shape shape = x.shape();
    shape[d] = length - start;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);

// --- narrow-end-refused
// An empty part at the end is refused.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start < x.shape()[d] &&
                    start <= x.shape()[d] - length,
                "narrow: no");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);

// --- narrow-end-unchecked
// The end is left to the check of the storage.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d], "narrow: no");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);

// --- narrow-from-the-storage
// The offset of a view is forgotten.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length,
                "narrow: not in the dimension");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(), start * x.strides()[d]);

// --- narrow-offset-kept
// The first element stays where it was.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length,
                "narrow: not in the dimension");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(), x.offset());

// --- narrow-one-too-many
// One index too many is accepted.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length + 1,
                "narrow: no");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);

// --- narrow-start-unchecked
// A negative start is left to the check of the storage.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(length >= 0 && start <= x.shape()[d] - length, "narrow: no");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);

// --- narrow-sum-overflows
// start + length may overflow.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start + length <= x.shape()[d],
                "narrow: no");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + start * x.strides()[d]);

// --- narrow-without-gaps
// The strides are those of a contiguous tensor of the new shape.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length,
                "narrow: not in the dimension");
    Shape shape = x.shape();
    shape[d] = length;
    Shape strides = contiguous_strides(shape);
    return x.as_strided(std::move(shape), std::move(strides),
                        x.offset() + start * x.strides()[d]);

// --- narrow-without-stride
// The offset moves by `start` elements, not by `start` strides.
// region: libmini/tensor/view_ops.cpp 1
    const size_t d = dimension("narrow", x.shape(), dim);
    check_shape(start >= 0 && length >= 0 && start <= x.shape()[d] - length,
                "narrow: not in the dimension");
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(), x.offset() + start);

// --- select-dimension-kept
// The dimension stays, with size 1.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    shape[d] = 1;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + index * x.strides()[d]);

// --- select-end-unchecked
// An index beyond the end is left to the check of the storage.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0, "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-first-removed
// The first dimension is removed, whichever was selected.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index * x.strides()[d];
    shape.erase(shape.begin());
    strides.erase(strides.begin());
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-from-the-storage
// The offset of a view is forgotten.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = index * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-negative-dimension
// A negative dimension is removed at a wrong place.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    const int64_t offset = x.offset() + index * x.strides()[d];
    Shape shape, strides;
    for (int64_t i = 0; i < x.dim(); ++i)
        if (i != std::max<int64_t>(dim, 0)) {
            shape.push_back(x.shape()[static_cast<size_t>(i)]);
            strides.push_back(x.strides()[static_cast<size_t>(i)]);
        }
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-negative-index
// -1 is the last index, as in PyTorch.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= -x.shape()[d] && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset =
        x.offset() + (index < 0 ? index + x.shape()[d] : index) * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-own-strides
// The strides are those of a contiguous tensor of the new shape.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides = contiguous_strides(shape);
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-size-included
// The size itself is accepted as an index.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index <= x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index * x.strides()[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);

// --- select-without-stride
// The offset moves by `index` elements.
// region: libmini/tensor/view_ops.cpp 2
    const size_t d = dimension("select", x.shape(), dim);
    check_shape(index >= 0 && index < x.shape()[d], "select: no such index");
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + index;
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);
