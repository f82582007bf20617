#include "libmini/parallel/low_rank.hpp"

#include <cstdint>

#include "libmini/tensor/on_cpu.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

LowRank low_rank_of(const GradBucket& bucket, int64_t r, double min_rate) {
    LowRank parts;
    int64_t P_size = 0, Q_size = 0, whole_size = 0;
    for (const Tensor& gradient : bucket.gradients) {
        const int64_t n = gradient.dim() < 2 ? 0 : gradient.size(0);
        const int64_t m = n == 0 ? 0 : gradient.numel() / n;
        const auto thin = static_cast<double>(r * (n + m));
        if (static_cast<double>(n * m) <= min_rate * thin) {
            parts.whole.push_back({.gradient = gradient, .copy = {}});
            whole_size += gradient.numel();
            continue;
        }
        parts.matrices.push_back({.M = ops::view(gradient, {n, m}), .P = {}, .Q = {}});
        P_size += n * r;
        Q_size += m * r;
    }
    parts.all_P = bucket.buffer.new_zeros({P_size});
    parts.all_Q = bucket.buffer.new_zeros({Q_size});
    parts.all_whole = bucket.buffer.new_zeros({whole_size});
    int64_t P_at = 0, Q_at = 0, whole_at = 0;
    const auto next = [](const Tensor& flat, int64_t& offset, const Shape& shape) {
        const Tensor part = ops::narrow(flat, 0, offset, element_count(shape));
        offset += part.numel();
        return ops::view(part, shape);
    };
    for (auto& [M, P, Q] : parts.matrices) {
        P = next(parts.all_P, P_at, {M.size(0), r});
        Q = next(parts.all_Q, Q_at, {M.size(1), r});
    }
    for (auto& [gradient, copy] : parts.whole)
        copy = next(parts.all_whole, whole_at, gradient.shape());
    return parts;
}

void draw_zero_columns(Tensor& Q, Generator& generator) {
    const int64_t m = Q.size(0), r = Q.size(1);
    on_cpu(Q, [&](Tensor& host) {
        float* const values = host.data<float>();
        for (int64_t column = 0; column < r; ++column) {
            bool is_zero = true;
            for (int64_t i = 0; i < m; ++i)
                is_zero = is_zero && values[i * r + column] == 0.0f;
            if (!is_zero) continue;
            std::vector<float> drawn(static_cast<size_t>(m));
            fill_normal(drawn, 0.0, 1.0, generator);
            for (int64_t i = 0; i < m; ++i)
                values[i * r + column] = drawn[static_cast<size_t>(i)];
        }
    });
}

}  // namespace mini::parallel
