// The columns are processed from the last to the first.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = r_ - 1; column >= 0; --column) {
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > kRounding * length;
        scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }
