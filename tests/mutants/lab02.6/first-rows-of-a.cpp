// Every chunk multiplies the first rows of a.
// region: libmini/kernels/cpu/matmul.cpp 1
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        auto rows = out.middleRows(begin, end - begin);
        if (accumulate)
            rows.noalias() += a.topRows(end - begin) * b;
        else
            rows.noalias() = a.topRows(end - begin) * b;
    });
