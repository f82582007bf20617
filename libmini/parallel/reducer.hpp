// Reducer: averages gradients over all ranks while the backward pass is still running.
//
//     backward      fc2  fc1 | conv2      conv1 |
//     gradients       *    * |     *          * |
//     all-reduce             [ bucket 0 ]       [ bucket 1 ]     then backward() returns
//
// A pass averages if prepare_for_backward() was called before it. The events of such a
// pass, with the parameter's index or the bucket's number, and bytes:
//
//     kGradReady       a gradient of a parameter has come: none if the parameter is unused
//     kBucketReady     all gradients of a bucket are ready: the bucket is full
//     kBucketLaunch    its reduction is started; the last bucket's all-reduce may start
//                      later, in the thread that waits, after the exchange of UsedParameters
//     kBackwardEnd     no gradient comes any more; not in a shadow iteration
//     kBucketDone      its reduction has ended; backward() returns after the last one
//
// Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel
// Training.

#pragma once

#include <memory>

#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/gradient_buckets.hpp"

namespace mini::parallel {

/// GradientBuckets knows which gradients share a bucket, and UsedParameters which
/// parameters get no gradient in a pass. What every reducer guarantees:
///
/// - Buckets are launched in the order of their numbers, each once a pass: a full bucket
///   waits for the buckets before it. So all ranks start the same reductions in the same
///   order, even if their gradients become ready in different orders.
/// - A reduction is one all-reduce of the bucket's buffer; the gradients are multiplied by
///   1 / divisor when they are copied into it. Or it is the communication hook, which
///   finds the gradients undivided. The hook's result is called once, at the end of the
///   pass; an empty result throws Error that names the bucket.
/// - Before a bucket is launched, the gradients of its parameters, except the unused ones,
///   are views of the bucket: a hook may then set other gradients and free the buffer. A
///   freed buffer is allocated again before the next gradient is copied into it.
/// - At the end, after kBackwardEnd, throws GradientBuckets::throw_unlaunched() if a bucket
///   was not launched. Then it waits for the buckets in the order of their numbers.
/// - With find_unused_parameters, and after the first pass of a static graph, a parameter
///   that gets no gradient in this pass is ready at the first gradient of the pass (else the
///   pass throws). It contributes the gradient that it has, for example of passes in no_sync,
///   or zeros; it keeps this gradient, outside of the bucket, unless another rank has used
///   the parameter: then the average becomes its gradient, and a freed buffer is an error.
/// - In the first pass of a static graph all parameters are ready at the end of the pass,
///   after kBackwardEnd.
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
    /// GradientBuckets::throw_unfinished() if the last pass that averages has not ended.
    void prepare_for_forward();

    /// Makes the next backward pass, from `output`, average the gradients. Without this
    /// call a backward pass only accumulates gradients on this rank. `output` is undefined
    /// in a pass of shadow_iteration().
    void prepare_for_backward(const Tensor& output);

    /// Returns whether the next backward pass, or the running one, averages gradients.
    bool averages_next() const;

    /// Takes part in one iteration of the other ranks: calls prepare_for_forward() and
    /// prepare_for_backward(), and contributes the gradients of a pass in which this rank
    /// uses no parameter. These are zero, or have accumulated on this rank since the last
    /// averaged iteration. Blocks until all buckets are averaged. Afterwards this rank's
    /// gradients are the averages; the gradient of a parameter that no rank has used is
    /// undefined. Such an iteration is never the first pass of a static graph.
    void shadow_iteration();

    /// Uses `hook` instead of one all-reduce per bucket. REQUIRES: `hook` is not empty, and
    /// no backward pass that averages has begun.
    void set_comm_hook(CommHook hook);

    /// Divides gradient sums by `ranks` instead of the world size; see
    /// JoinOptions::divide_by_initial_world_size.
    void divide_by(int ranks);

    const GradientBuckets& buckets() const;
    GradientBuckets& buckets();

  private:
    struct Impl;  // what a reducer consists of: reducer.cpp defines it
    std::unique_ptr<Impl> impl_;
};

}  // namespace mini::parallel
