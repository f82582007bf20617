// All rows are added in order.
// region: libmini/kernels/cpu/reduce.cpp 1
    static_cast<void>(scratch);
    std::fill(out, out + cols, 0.0f);
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];
