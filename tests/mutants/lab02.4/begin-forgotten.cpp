// Each chunk writes to the first columns.
// region: libmini/kernels/cpu/norm.cpp 3
    for (int64_t c = 0; c < end - begin; ++c) {
        const double m = sums[c] / count;
        mean[c] = static_cast<float>(double{first[c]} + m);
        variance[c] = static_cast<float>(std::max(squares[c] / count - m * m, 0.0));
    }
