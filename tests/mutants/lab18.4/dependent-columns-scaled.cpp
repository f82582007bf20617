// The rounding errors of a dependent column are scaled to length 1.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        static_cast<void>(length);
        scale(column, 1.0 / (rest + epsilon));
    }
