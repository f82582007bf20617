// A column is divided by the length it had before the subtractions.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > kRounding * length;
        scale(column, is_new ? 1.0 / (length + epsilon) : 0.0);
    }
