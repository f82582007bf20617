// The rows are a copy: the product is computed and lost.
// region: libmini/kernels/cpu/matmul.cpp 1
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        Matrix rows = out.middleRows(begin, end - begin);
        if (accumulate)
            rows.noalias() += a.middleRows(begin, end - begin) * b;
        else
            rows.noalias() = a.middleRows(begin, end - begin) * b;
    });
