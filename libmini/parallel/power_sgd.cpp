#include "libmini/parallel/power_sgd.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/parallel/bucket_state.hpp"
#include "libmini/parallel/error_feedback.hpp"
#include "libmini/parallel/low_rank.hpp"
#include "libmini/parallel/orthogonalize.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

// [lab18 file]
namespace mini::parallel {
namespace {

// What a hook keeps from step to step.
struct State {
    PowerSGDOptions options;
    Generator generator;
    BucketStates<LowRank> buckets = {};
    int64_t iteration = 0;
};

void choose_Q(LowRank& parts, State& state) {
    // [lab18.5] Start from the last Q, or from zeros; draw zero columns; orthogonalise.
    if (!state.options.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (auto& [M, P, Q] : parts.matrices) {
        draw_zero_columns(Q, state.generator);
        orthogonalize(Q, state.options.orthogonalization_epsilon);
    }
    // [lab18.5]
}

// The averages of the uncompressed gradients are copied last: when `sent` is noted, the
// buffer still has this rank's own values of these gradients, so their error is zero.
// PyTorch stores the local value minus the average as their error: the sum of these
// errors over the ranks is zero, but each error grows in every step and costs precision.
void finish(LowRank& parts, const GradBucket& bucket, double epsilon,
            dist::ProcessGroup& group) {
    // [lab18.6] Average Q = Mt P, replace M by P Qt, note what is sent, copy the rest.
    for (auto& [M, P, Q] : parts.matrices) {
        orthogonalize(P, epsilon);
        ops::copy_(Q, ops::matmul(M, P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (auto& [M, P, Q] : parts.matrices)
        ops::copy_(M, ops::matmul(P, Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    for (auto& [gradient, copy] : parts.whole) ops::copy_(gradient, copy);
    // [lab18.6]
}

// Starts the all-reduces of the uncompressed gradients and of P for one bucket. Returns a
// function that waits for both and then calls finish().
FinishHook start(const std::shared_ptr<State>& state, const GradBucket& bucket,
                 dist::ProcessGroup& group) {
    LowRank parts = state->buckets.of(bucket, [&state](const GradBucket& each) {
        return low_rank_of(each, state->options.matrix_approximation_rank,
                           state->options.min_compression_rate);
    });  // handles: the tensors are those of the state
    // [lab18.5] Start the all-reduces of the uncompressed gradients and of P = M Q.
    for (auto& [gradient, copy] : parts.whole) ops::copy_(copy, gradient);
    choose_Q(parts, *state);
    for (auto& [M, P, Q] : parts.matrices) ops::copy_(P, ops::matmul(M, Q));
    return [parts, bucket, &group, epsilon = state->options.orthogonalization_epsilon,
            whole = group.all_reduce_async(parts.all_whole, dist::ReduceOp::kAvg),
            first = group.all_reduce_async(parts.all_P)]() mutable {
        whole->wait();
        first->wait();
        finish(parts, bucket, epsilon, group);
    };
    // [lab18.5]
}

}  // namespace

CommHook power_sgd_hook(const PowerSGDOptions& options) {
    if (options.matrix_approximation_rank < 1)
        throw UsageError("power_sgd_hook: the rank must be 1 or more, but is ",
                         options.matrix_approximation_rank);
    const bool remembers = options.use_error_feedback || options.warm_start;
    if (remembers && options.start_powerSGD_iter < 2)
        throw UsageError(
            "power_sgd_hook: with error feedback or warm start, "
            "start_powerSGD_iter must be 2 or more, as in PyTorch, but is ",
            options.start_powerSGD_iter);
    const auto state = std::make_shared<State>(
        State{.options = options, .generator = Generator(options.random_seed)});
    CommHook hook = [state](const GradBucket& bucket, dist::ProcessGroup& group) {
        return start(state, bucket, group);
    };
    if (options.use_error_feedback) hook = error_feedback_hook(std::move(hook));
    return [state, hook, plain = allreduce_hook()](const GradBucket& bucket,
                                                   dist::ProcessGroup& group) {
        const bool is_early = state->iteration < state->options.start_powerSGD_iter;
        if (bucket.is_last) ++state->iteration;
        return is_early ? plain(bucket, group) : hook(bucket, group);
    };
}

}  // namespace mini::parallel
// [lab18 file]
