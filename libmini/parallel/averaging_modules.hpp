// Three simpler modules with the interface of DistributedDataParallel.
//
//                        all-reduces        when
//     AveragedModule     one per parameter  after the backward pass
//     FlatModule         one                after the backward pass, of a flat copy
//     OverlappedModule   one per parameter  as soon as its gradient is ready
//     DDP                one per bucket     as soon as the bucket is full
//
// All four train with the same loop: forward, backward(), step. AveragedModule pays the
// latency of a message for every parameter. FlatModule needs one all-reduce, but starts
// it only after the backward pass. OverlappedModule communicates during the backward
// pass, but again pays the latency for every parameter. DDP needs few all-reduces and
// starts them early.

#pragma once

#include <cstddef>
#include <memory>

#include "libmini/parallel/replicated_module.hpp"

namespace mini::parallel {

/// The base class of the three modules. Calls on_gradient() and on_end() in each backward
/// pass that averages: the first one after a forward() outside of no_sync. In such a pass,
///
///     on_gradient(index)    when a gradient is ready, which happens once per parameter
///     kBackwardEnd          is recorded after the last gradient
///     on_end()              before backward() returns; queue_callback() makes this possible
///
/// If grad() of a parameter is undefined after kBackwardEnd, throws Error with its name and
/// the rank, and does not call on_end(). After this error, too, a pass without a new
/// forward() only accumulates. After a hook's error, call forward() outside of no_sync.
class GradientListener : public ReplicatedModule {
  public:
    /// See ReplicatedModule, with broadcast_buffers = true. Adds exactly one hook to each
    /// parameter in trained().
    explicit GradientListener(nn::Module& module,
                              std::shared_ptr<dist::ProcessGroup> group = nullptr);

    /// Removes the hooks, so that the module can be wrapped again.
    ~GradientListener() override;

  protected:
    /// Called when the gradient of parameter `index` of trained() is ready.
    virtual void on_gradient(size_t index) { (void)index; }

    /// Called once after the last gradient, before backward() returns.
    virtual void on_end() = 0;

    struct Impl;  // what the three modules consist of: averaging_modules.cpp defines it
    std::unique_ptr<Impl> impl_;

  private:
    void prepare_for_backward(const Tensor& output) override;
    bool averages_next() const override;
};

/// Calls average_gradients at the end of each backward pass.
class AveragedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    void on_end() override;
};

/// Calls average_flat_gradients at the end of each backward pass.
class FlatModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    void on_end() override;
};

/// Averages each gradient as soon as it is ready, while the backward pass continues.
/// REQUIRES: gradients become ready in the same order on all ranks, since all ranks must
/// start their all-reduces in the same order. If a model takes different branches on
/// different ranks, the all-reduce fails with MismatchedCollective or, if the shapes are
/// equal, averages the gradients of different parameters. DistributedDataParallel does
/// not have this requirement. After a backward() that threw, this object cannot be used.
class OverlappedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    /// The gradient's all-reduce is on its way afterwards; it is not waited for here. The
    /// event log has kBucketLaunch (`index`, the gradient's bytes).
    void on_gradient(size_t index) override;

    /// Afterwards each gradient, in place, is the sum over the ranks of its product with
    /// the float 1 / world size. The log has kBucketDone for each launch (index: 0 for this
    /// pass's first), when its all-reduce has ended. Throws the error of an all-reduce.
    void on_end() override;
};

}  // namespace mini::parallel
