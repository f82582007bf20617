#include "libmini/parallel/orthogonalize.hpp"

#include <cmath>
#include <cstdint>

#include "libmini/tensor/on_cpu.hpp"

namespace mini::parallel {
namespace {

constexpr double kRounding = 1e-5;  // length of a rounding error, relative to the column

class Orthogonalizer {
  public:
    explicit Orthogonalizer(Tensor& matrix)
        : values_(matrix.data<float>()), n_(matrix.size(0)), r_(matrix.size(1)) {}

    void run(double epsilon) {
        // [lab18.4] Make each column orthogonal to the previous ones, and of length 1.
        for (int64_t column = 0; column < r_; ++column) {
            const double length = std::sqrt(dot(column, column));
            subtract_projections(column);
            subtract_projections(column);
            const double rest = std::sqrt(dot(column, column));
            const bool is_new = rest > kRounding * length;
            scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
        }
        // [lab18.4]
    }

  private:
    double dot(int64_t a, int64_t b) const {
        double sum = 0.0;
        for (int64_t i = 0; i < n_; ++i)
            sum += static_cast<double>(values_[i * r_ + a]) * values_[i * r_ + b];
        return sum;
    }
    void subtract_projections(int64_t column) {
        // [lab18.4] Subtract the projection on each previous column.
        for (int64_t before = 0; before < column; ++before) {
            const auto part = static_cast<float>(dot(column, before));
            for (int64_t i = 0; i < n_; ++i)
                values_[i * r_ + column] -= part * values_[i * r_ + before];
        }
        // [lab18.4]
    }
    void scale(int64_t column, double factor) {
        for (int64_t i = 0; i < n_; ++i)
            values_[i * r_ + column] *= static_cast<float>(factor);
    }

    float* values_;  // (n, r), row by row
    int64_t n_, r_;
};

}  // namespace

void orthogonalize(Tensor& matrix, double epsilon) {
    on_cpu(matrix, [&](Tensor& host) { Orthogonalizer(host).run(epsilon); });
}

}  // namespace mini::parallel
