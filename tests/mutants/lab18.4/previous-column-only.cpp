// Only the projection on the column just before is subtracted.
// region: libmini/parallel/orthogonalize.cpp 2
    for (int64_t before = column > 0 ? column - 1 : 0; before < column; ++before) {
        const auto part = static_cast<float>(dot(column, before));
        for (int64_t i = 0; i < n_; ++i)
            values_[i * r_ + column] -= part * values_[i * r_ + before];
    }
