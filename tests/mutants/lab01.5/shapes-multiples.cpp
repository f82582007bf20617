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
