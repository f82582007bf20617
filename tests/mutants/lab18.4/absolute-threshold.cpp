// A short column counts as rounding errors, however short it was before.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > kRounding;
        scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }
