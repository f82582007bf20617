// Reducer: averages gradients over all ranks while the backward pass is still running.
//
//     backward      fc2  fc1 | conv2      conv1 |
//     gradients       *    * |     *          * |
//     all-reduce             [ bucket 0 ]       [ bucket 1 ]     then backward() returns
//
// A hook on each parameter's gradient accumulator copies the gradient, divided by the
// number of ranks, into its view of a bucket. Buckets are launched in the order of their
// numbers, so all ranks launch the same all-reduces in the same order, even if their
// gradients become ready in different orders. At the end of the backward pass the reducer
// waits for all buckets; the parameters' gradients are then views of the buckets.
//
// Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel
// Training.

#pragma once

#include <memory>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/gradient_buckets.hpp"
#include "libmini/parallel/used_parameters.hpp"

namespace mini::parallel {

class Reducer {
  public:
    /// Adds a hook to each parameter; `parameters` is in forward order. Throws UsageError
    /// for bucket sizes below one byte. REQUIRES: `group` outlives this object.
    Reducer(const nn::NamedTensors& parameters, const DDPOptions& options,
            dist::ProcessGroup& group);

    /// Removes its hooks from the parameters.
    ~Reducer();
    Reducer(const Reducer&) = delete;
    Reducer& operator=(const Reducer&) = delete;

    /// Rebuilds the buckets if that is due, which blocks; every rank must call it. Throws
    /// Error if the last backward pass did not finish its reduction.
    void prepare_for_forward();

    /// Makes the next backward pass, from `output`, average the gradients. Without this
    /// call a backward pass only accumulates gradients on this rank. `output` is undefined
    /// in a pass of shadow_iteration().
    void prepare_for_backward(const Tensor& output);

    /// Returns whether the next backward pass, or the running one, averages gradients.
    bool averages_next() const { return expecting_; }

    /// Takes part in one iteration of the other ranks, also in prepare_for_forward(), as
    /// in a pass after zero_grad() in which this rank uses no parameter: its gradients
    /// are zero, or have accumulated on this rank since the last averaged iteration.
    /// Blocks until all buckets are averaged. Afterwards this rank's gradients are the
    /// averages; the gradient of a parameter that no rank has used is undefined.
    void shadow_iteration();

    /// Uses `hook` instead of one all-reduce per bucket. Throws UsageError if a hook is
    /// already set, or if the first backward pass that averages has begun.
    void set_comm_hook(CommHook hook);

    /// Divides gradient sums by `ranks` instead of the world size; see
    /// JoinOptions::divide_by_initial_world_size.
    void divide_by(int ranks) { divisor_ = ranks; }

    const GradientBuckets& buckets() const { return buckets_; }
    GradientBuckets& buckets() { return buckets_; }

  private:
    // Called by the hook of parameter `index`, in every backward pass. In a pass that
    // averages, records kGradReady; its first gradient queues end_backward(), and marks the
    // parameters ready that get no gradient.
    void on_gradient(size_t index);

    // Makes grad() a view of the bucket, and then copies the gradient into the bucket: a
    // communication hook, which the copy may call, may set grad() or free the buffer. For
    // an unused parameter, contributes the old gradient, or zeros if it has none, and
    // keeps it outside of the bucket: if no rank has used it, grad() does not change.
    void mark_ready(size_t index);

    // Allocates the bucket's buffer if a communication hook has freed it; copies the
    // gradient, divided by divisor_, or undivided for a communication hook. If the bucket
    // is full then, records kBucketReady and launches.
    void copy_and_launch(size_t index, const Tensor& gradient);

    // Called whenever a bucket has become full. Launches buckets in the order of their
    // numbers, each once: starts at next_bucket_ and stops at the first bucket that is
    // not full. Sets the `finish` of each launched bucket to the result of launch(), and
    // next_bucket_ to the first bucket that has not been launched. Does not block.
    void launch_full_buckets();

    // Starts the reduction of a bucket and records it as kBucketLaunch. Returns
    // immediately; the result is a function that waits for the reduction.
    FinishHook launch(size_t index);

    // Called once at the end of a pass that averages: records kBackwardEnd, marks all
    // parameters ready if the pass has shown the static graph, throws Error if a bucket
    // was not launched, and waits for the buckets.
    void end_backward();

    // Waits for the buckets, in the order of their numbers, and records kBucketDone for
    // each. Throws Error that names the bucket if its `finish` is empty. Then gives the
    // averages to the parameters that only other ranks have used.
    void wait_for_buckets();

    dist::ProcessGroup& group_;
    GradientBuckets buckets_;
    UsedParameters used_;
    std::vector<std::shared_ptr<AccumulateGrad>> accumulators_;  // by parameter
    std::vector<int> hooks_;                                     // for remove_hook()
    CommHook comm_hook_;
    int divisor_;
    size_t next_bucket_ = 0;  // the next bucket to launch
    bool expecting_ = false;  // from prepare_for_backward() to wait_for_buckets()
    bool started_ = false;    // the pass has reached its first gradient
};

}  // namespace mini::parallel
