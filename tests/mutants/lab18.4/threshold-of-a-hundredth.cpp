// A nearly parallel column becomes zero.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > 1e-2 * length;
        scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }
