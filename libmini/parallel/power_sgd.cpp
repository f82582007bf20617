#include "libmini/parallel/power_sgd.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/on_cpu.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

// One gradient as a matrix, and its two thin factors.
struct Factored {
    Tensor M;  // (n, m), a view of the bucket
    Tensor P;  // (n, r), a view of Compressed::all_P
    Tensor Q;  // (m, r), a view of Compressed::all_Q
};

// The state that PowerSGD keeps for one bucket from step to step.
struct Compressed {
    std::vector<Factored> matrices;
    std::vector<Tensor> whole;  // gradients that are sent uncompressed
    Tensor all_P, all_Q;        // of all matrices, to be sent together
    Tensor all_whole;
    Tensor error;  // of the last approximation, in the shape of the buffer
};

int64_t rows(const Tensor& gradient) { return gradient.size(0); }
int64_t columns(const Tensor& gradient) {
    return rows(gradient) == 0 ? 0 : gradient.numel() / rows(gradient);
}

// Makes the columns orthonormal, one after the other (Gram-Schmidt). Sets a column to
// zero if it is, up to rounding, a linear combination of the previous columns.
class Orthogonalizer {
  public:
    explicit Orthogonalizer(Tensor& matrix)
        : values_(matrix.data<float>()), n_(matrix.size(0)), r_(matrix.size(1)) {}

    void run(double epsilon) {
        for (int64_t column = 0; column < r_; ++column) {
            const double length = std::sqrt(dot(column, column));
            subtract_projections(column);
            subtract_projections(column);  // again, because of rounding errors
            const double rest = std::sqrt(dot(column, column));
            const bool is_new = rest > kRounding * length;
            scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
        }
    }

  private:
    static constexpr double kRounding = 1e-5;

    double dot(int64_t a, int64_t b) const {
        double sum = 0.0;
        for (int64_t i = 0; i < n_; ++i)
            sum += static_cast<double>(values_[i * r_ + a]) * values_[i * r_ + b];
        return sum;
    }
    void subtract_projections(int64_t column) {
        for (int64_t before = 0; before < column; ++before) {
            const auto part = static_cast<float>(dot(column, before));
            for (int64_t i = 0; i < n_; ++i)
                values_[i * r_ + column] -= part * values_[i * r_ + before];
        }
    }
    void scale(int64_t column, double factor) {
        for (int64_t i = 0; i < n_; ++i)
            values_[i * r_ + column] *= static_cast<float>(factor);
    }

    float* values_;  // (n, r)
    int64_t n_, r_;
};

void orthogonalize(Tensor& matrix, double epsilon) {
    if (matrix.device().is_cpu()) return Orthogonalizer(matrix).run(epsilon);
    on_gpu(matrix.device(), [&](cudaStream_t stream) {
        gpu::orthogonalize(matrix.data<float>(), matrix.size(0), matrix.size(1), epsilon,
                           stream);
    });
}

// Fills each column of zeros with random numbers: otherwise the column would stay zero.
void draw_zero_columns(Tensor& Q, Generator& generator) {
    const int64_t m = Q.size(0), r = Q.size(1);
    float* const values = Q.data<float>();
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
}

// Divides `flat` into consecutive views.
class Cutter {
  public:
    explicit Cutter(Tensor flat) : flat_(std::move(flat)) {}
    Tensor next(const Shape& shape) {
        const int64_t n = element_count(shape);
        const Tensor part = ops::view(ops::narrow(flat_, 0, at_, n), shape);
        at_ += n;
        return part;
    }

  private:
    Tensor flat_;
    int64_t at_ = 0;
};

class PowerSGD : public std::enable_shared_from_this<PowerSGD> {
  public:
    explicit PowerSGD(const PowerSGDOptions& options)
        : options_(options), plain_(allreduce_hook()), generator_(options.random_seed) {}

    FinishHook start(const GradBucket& bucket, dist::ProcessGroup& group);

  private:
    bool is_worth_it(const Tensor& gradient) const;
    Compressed take_apart(const GradBucket& bucket) const;
    void choose_Q(Compressed& bucket);
    void finish(Compressed& parts, const Tensor& buffer, const Tensor& exact,
                dist::ProcessGroup& group) const;

    PowerSGDOptions options_;
    CommHook plain_;
    Generator generator_;
    std::map<size_t, Compressed> buckets_;  // by index
    int64_t iteration_ = 0;
};

bool PowerSGD::is_worth_it(const Tensor& gradient) const {
    if (gradient.dim() < 2 || gradient.numel() == 0) return false;
    const int64_t n = rows(gradient), m = columns(gradient);
    const auto thin = static_cast<double>((n + m) * options_.matrix_approximation_rank);
    return thin * options_.min_compression_rate < static_cast<double>(n * m);
}

Compressed PowerSGD::take_apart(const GradBucket& bucket) const {
    Compressed parts;
    const Tensor& buffer = bucket.buffer;
    int64_t P_size = 0, Q_size = 0, whole_size = 0;
    const int64_t r = options_.matrix_approximation_rank;
    for (const Tensor& gradient : bucket.gradients) {
        if (!is_worth_it(gradient)) {
            parts.whole.push_back(gradient);
            whole_size += gradient.numel();
            continue;
        }
        const int64_t n = rows(gradient), m = columns(gradient);
        parts.matrices.push_back({.M = ops::view(gradient, {n, m}), .P = {}, .Q = {}});
        P_size += n * r;
        Q_size += m * r;
    }
    parts.all_P = buffer.new_zeros({P_size});
    parts.all_Q = buffer.new_zeros({Q_size});
    parts.all_whole = buffer.new_zeros({whole_size});
    Cutter P(parts.all_P), Q(parts.all_Q);
    for (Factored& matrix : parts.matrices) {
        matrix.P = P.next({matrix.M.size(0), r});
        matrix.Q = Q.next({matrix.M.size(1), r});
    }
    parts.error = buffer.new_zeros(buffer.shape());
    return parts;
}

void PowerSGD::choose_Q(Compressed& parts) {
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices)
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
    for (Factored& matrix : parts.matrices)
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
}

FinishHook PowerSGD::start(const GradBucket& bucket, dist::ProcessGroup& group) {
    const int64_t iteration = iteration_;
    if (bucket.is_last) ++iteration_;
    if (iteration < options_.start_iteration) return plain_(bucket, group);

    if (!buckets_.contains(bucket.index)) buckets_[bucket.index] = take_apart(bucket);
    Compressed& parts = buckets_[bucket.index];
    Tensor buffer = bucket.buffer;
    if (options_.use_error_feedback) ops::add_(buffer, parts.error);
    const Tensor exact = options_.use_error_feedback ? ops::clone(buffer) : Tensor();

    // Send the uncompressed gradients, and the factors P of the compressed gradients.
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P, ops::matmul(matrix.M, matrix.Q));
    const auto whole = group.all_reduce_async(parts.all_whole, dist::ReduceOp::kAvg);
    const auto first = group.all_reduce_async(parts.all_P);
    return [self = shared_from_this(), &parts, buffer, exact, &group, whole, first] {
        whole->wait();
        first->wait();
        self->finish(parts, buffer, exact, group);
    };
}

void PowerSGD::finish(Compressed& parts, const Tensor& buffer, const Tensor& exact,
                      dist::ProcessGroup& group) const {
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));

    if (options_.use_error_feedback) {
        parts.error = exact;
        ops::add_(parts.error, buffer, -1.0f);
    }

    // Copy the averages of the uncompressed gradients last. When the error was computed
    // above, the buffer still held this rank's own values of these gradients, so their
    // error is zero. PyTorch stores the local value minus the average as their error: the
    // sum of these errors over the ranks is zero, but each error grows with every step
    // and costs precision.
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));
}

}  // namespace

CommHook power_sgd_hook(const PowerSGDOptions& options) {
    if (options.matrix_approximation_rank < 1)
        throw UsageError(concat("power_sgd_hook: the rank must be 1 or more, but is ",
                                options.matrix_approximation_rank));
    const bool remembers = options.use_error_feedback || options.warm_start;
    if (remembers && options.start_iteration < 2)
        throw UsageError(
            concat("power_sgd_hook: with error feedback or warm start, start_iteration "
                   "must be 2 or more, since buckets change before the second iteration, "
                   "but is ",
                   options.start_iteration));
    return [state = std::make_shared<PowerSGD>(options)](const GradBucket& bucket,
                                                         dist::ProcessGroup& group) {
        return state->start(bucket, group);
    };
}

}  // namespace mini::parallel
