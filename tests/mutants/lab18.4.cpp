// --- absolute-threshold
// A short column counts as rounding errors, however short it was before.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > kRounding;
        scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }

// --- dependent-columns-scaled
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

// --- epsilon-ignored
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

// --- last-column-first
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

// --- old-length
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

// --- previous-column-only
// Only the projection on the column just before is subtracted.
// region: libmini/parallel/orthogonalize.cpp 2
    for (int64_t before = column > 0 ? column - 1 : 0; before < column; ++before) {
        const auto part = static_cast<float>(dot(column, before));
        for (int64_t i = 0; i < n_; ++i)
            values_[i * r_ + column] -= part * values_[i * r_ + before];
    }

// --- subtracted-once
// Projections are subtracted once.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest > kRounding * length;
        scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }

// --- threshold-of-a-hundredth
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

// --- threshold-with-epsilon
// Epsilon makes rounding errors long enough to be scaled.
// region: libmini/parallel/orthogonalize.cpp 1
    for (int64_t column = 0; column < r_; ++column) {
        const double length = std::sqrt(dot(column, column));
        subtract_projections(column);
        subtract_projections(column);
        const double rest = std::sqrt(dot(column, column));
        const bool is_new = rest + epsilon > kRounding * length;
        scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }
