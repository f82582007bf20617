// As many elements are set to 0 as there are outputs.
// region: libmini/kernels/cpu/pool.cpp 3
    std::fill_n(dx, outputs, 0.0f);
    for (int64_t k = 0; k < outputs; ++k) dx[indices[k]] += g[k];
