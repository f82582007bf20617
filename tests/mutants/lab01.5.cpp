// --- dims-added-only
// Only added dimensions are listed.
// region: libmini/tensor/broadcast.cpp 3
    for (size_t d = 0; d < to.size() - from.size(); ++d)
        dims.push_back(static_cast<int64_t>(d));

// --- dims-expanded-only
// Only expanded dimensions are listed.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = added; d < to.size(); ++d)
        if (from[d - added] != to[d]) dims.push_back(static_cast<int64_t>(d));

// --- dims-of-size-one
// Every dimension that has size 1 is listed, expanded or not.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < to.size(); ++d)
        if (d < added || from[d - added] == 1) dims.push_back(static_cast<int64_t>(d));

// --- dims-of-the-small-shape
// Dimensions are numbered as in the smaller shape.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d)
        if (from[d] != to[d + added]) dims.push_back(static_cast<int64_t>(d));

// --- dims-without-size-one
// An added dimension of size 1 is left out.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < to.size(); ++d)
        if ((d < added ? 1 : from[d - added]) != to[d])
            dims.push_back(static_cast<int64_t>(d));

// --- expand-everything
// All strides are 0.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1, "expand: no");
        strides[d] = 0;
    }

// --- expand-from-the-front
// The dimensions of x are the first ones of the shape.
// region: libmini/tensor/broadcast.cpp 2
    for (size_t d = 0; d < x.shape().size(); ++d) {
        const int64_t size = x.shape()[d];
        check_shape(size == shape[d] || size == 1, "expand: no");
        strides[d] = size == 1 ? 0 : x.strides()[d];
    }

// --- expand-own-strides
// Sizes that stay get contiguous strides.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1, "expand: no");
        strides[d] = size == 1 ? 0 : contiguous_strides(x.shape())[d - added];
    }

// --- expand-shrinks
// A size may shrink to 1.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1 || shape[d] == 1, "expand: no");
        strides[d] = size == 1 ? 0 : x.strides()[d - added];
    }

// --- expand-stride-kept
// An expanded dimension keeps its stride, and reads what follows.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1, "expand: no");
        strides[d] = x.strides()[d - added];
    }

// --- expand-unchecked
// Any size is expanded.
// region: libmini/tensor/broadcast.cpp 2
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        strides[d] = size == shape[d] ? x.strides()[d - added] : 0;
    }

// --- shapes-b-fits-into-a
// Only b is expanded.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t back = 1; back <= result.size(); ++back) {
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        check_shape(in_a == in_b || in_b == 1, "broadcast: no");
        result[result.size() - back] = in_a;
    }

// --- shapes-from-the-front
// Sizes are matched from the first dimension.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t d = 0; d < result.size(); ++d) {
        const int64_t in_a = d < a.size() ? a[d] : 1;
        const int64_t in_b = d < b.size() ? b[d] : 1;
        check_shape(in_a == in_b || in_a == 1 || in_b == 1, "broadcast: no");
        result[d] = in_a == 1 ? in_b : in_a;
    }

// --- shapes-larger-size
// The larger size wins, also over 0.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t back = 1; back <= result.size(); ++back) {
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        check_shape(in_a == in_b || in_a == 1 || in_b == 1, "broadcast: no");
        result[result.size() - back] = std::max(in_a, in_b);
    }

// --- shapes-multiples
// A size that divides the other is repeated, too.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t back = 1; back <= result.size(); ++back) {
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        check_shape(in_a == in_b || in_a == 1 || in_b == 1 ||
                        (in_a > 0 && in_b > 0 && (in_a % in_b == 0 || in_b % in_a == 0)),
                    "broadcast: no");
        result[result.size() - back] = in_a == in_b || in_a == 1 ? in_b
                                       : in_b == 1               ? in_a
                                                                 : std::max(in_a, in_b);
    }

// --- shapes-unchecked
// Any two sizes match.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t back = 1; back <= result.size(); ++back) {
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        result[result.size() - back] = in_a == 1 ? in_b : in_a;
    }

// --- shapes-zero-matches
// A size of 0 matches any other.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t back = 1; back <= result.size(); ++back) {
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        check_shape(in_a == in_b || in_a <= 1 || in_b <= 1, "broadcast: no");
        result[result.size() - back] = in_a == 1 ? in_b : in_a;
    }
