#include "libmini/parallel/power_sgd.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/parallel/bucket_state.hpp"
#include "libmini/parallel/error_feedback.hpp"
#include "libmini/parallel/orthogonalize.hpp"
#include "libmini/random/random.hpp"
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
};

int64_t rows(const Tensor& gradient) { return gradient.size(0); }
int64_t columns(const Tensor& gradient) {
    return rows(gradient) == 0 ? 0 : gradient.numel() / rows(gradient);
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

// PowerSGD from start_powerSGD_iter on, without error feedback.
class PowerSGD : public std::enable_shared_from_this<PowerSGD> {
  public:
    explicit PowerSGD(const PowerSGDOptions& options)
        : options_(options), generator_(options.random_seed) {}

    // Starts step 1 of the file head for one bucket, and before it the all-reduce of the
    // gradients that are too small to compress (all_whole).
    // Returns a function that waits for both and then calls finish().
    FinishHook start(const GradBucket& bucket, dist::ProcessGroup& group);

  private:
    bool is_worth_it(const Tensor& gradient) const;
    Compressed take_apart(const GradBucket& bucket) const;
    void choose_Q(Compressed& parts);
    void finish(Compressed& parts, const GradBucket& bucket,
                dist::ProcessGroup& group) const;

    PowerSGDOptions options_;
    Generator generator_;
    BucketStates<Compressed> buckets_;
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
    return parts;
}

void PowerSGD::choose_Q(Compressed& parts) {
    // [lab18.5] Start from the last Q, or from zeros; draw zero columns; orthogonalise.
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }
    // [lab18.5]
}

FinishHook PowerSGD::start(const GradBucket& bucket, dist::ProcessGroup& group) {
    Compressed& parts =
        buckets_.of(bucket, [this](const GradBucket& each) { return take_apart(each); });
    // [lab18.5] Start the all-reduces of the uncompressed gradients and of P = M Q.
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P, ops::matmul(matrix.M, matrix.Q));
    return [self = shared_from_this(), &parts, bucket, &group,
            whole = group.all_reduce_async(parts.all_whole, dist::ReduceOp::kAvg),
            first = group.all_reduce_async(parts.all_P)] {
        whole->wait();
        first->wait();
        self->finish(parts, bucket, group);
    };
    // [lab18.5]
}

// The averages of the uncompressed gradients are copied last: when `sent` is noted, the
// buffer still has this rank's own values of these gradients, so their error is zero.
// PyTorch stores the local value minus the average as their error: the sum of these
// errors over the ranks is zero, but each error grows in every step and costs precision.
void PowerSGD::finish(Compressed& parts, const GradBucket& bucket,
                      dist::ProcessGroup& group) const {
    // [lab18.6] Average Q = Mt P, replace M by P Qt, note what is sent, copy the rest.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));
    // [lab18.6]
}

// Returns a hook that is allreduce_hook in the iterations before `first`, then `hook`.
CommHook from_iteration(int64_t first, CommHook hook) {
    struct State {
        CommHook plain, hook;
        int64_t iteration = 0;
    };
    const auto state = std::make_shared<State>(
        State{.plain = allreduce_hook(), .hook = std::move(hook)});
    return [state, first](const GradBucket& bucket, dist::ProcessGroup& group) {
        const bool is_early = state->iteration < first;
        if (bucket.is_last) ++state->iteration;
        return is_early ? state->plain(bucket, group) : state->hook(bucket, group);
    };
}

}  // namespace

CommHook power_sgd_hook(const PowerSGDOptions& options) {
    if (options.matrix_approximation_rank < 1)
        throw UsageError(concat("power_sgd_hook: the rank must be 1 or more, but is ",
                                options.matrix_approximation_rank));
    const bool remembers = options.use_error_feedback || options.warm_start;
    if (remembers && options.start_powerSGD_iter < 2)
        throw UsageError(
            concat("power_sgd_hook: with error feedback or warm start, "
                   "start_powerSGD_iter must be 2 or more, as in PyTorch, but is ",
                   options.start_powerSGD_iter));
    CommHook hook = [state = std::make_shared<PowerSGD>(options)](
                        const GradBucket& bucket, dist::ProcessGroup& group) {
        return state->start(bucket, group);
    };
    if (options.use_error_feedback) hook = error_feedback_hook(std::move(hook));
    return from_iteration(options.start_powerSGD_iter, std::move(hook));
}

}  // namespace mini::parallel
