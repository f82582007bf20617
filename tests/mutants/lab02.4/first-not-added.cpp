// The mean is that of the distances from the first element.
// region: libmini/kernels/cpu/norm.cpp 3
    for (int64_t c = 0; c < end - begin; ++c) {
        const double m = sums[c] / count;
        mean[begin + c] = static_cast<float>(m);
        variance[begin + c] =
            static_cast<float>(std::max(squares[c] / count - m * m, 0.0));
    }
