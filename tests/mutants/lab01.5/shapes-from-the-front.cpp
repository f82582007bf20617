// Sizes are matched from the first dimension.
// region: libmini/tensor/broadcast.cpp 1
    for (size_t d = 0; d < result.size(); ++d) {
        const int64_t in_a = d < a.size() ? a[d] : 1;
        const int64_t in_b = d < b.size() ? b[d] : 1;
        check_shape(in_a == in_b || in_a == 1 || in_b == 1, "broadcast: no");
        result[d] = in_a == 1 ? in_b : in_a;
    }
