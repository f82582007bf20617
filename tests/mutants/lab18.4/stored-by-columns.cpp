// The matrix is taken for one that is stored column by column.
// region: libmini/parallel/orthogonalize.cpp 2
    for (int64_t before = 0; before < column; ++before) {
        const auto part = static_cast<float>(dot(column, before));
        for (int64_t i = 0; i < n_; ++i)
            values_[column * n_ + i] -= part * values_[before * n_ + i];
    }
