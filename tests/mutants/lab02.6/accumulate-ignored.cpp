// The product always replaces out.
// region: libmini/kernels/cpu/matmul.cpp 1
    static_cast<void>(accumulate);
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        out.middleRows(begin, end - begin).noalias() =
            a.middleRows(begin, end - begin) * b;
    });
