// Epsilon is not used.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        static_cast<void>(epsilon);
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > kRounding * length;
        scale(column, is_new ? 1.0 / rest : 0.0);
    }
