// Of the windows that an element won only the last counts.
// region: libmini/kernels/cpu/pool.cpp 3
    std::fill_n(dx, size, 0.0f);
    for (int64_t k = 0; k < outputs; ++k) dx[indices[k]] = g[k];
