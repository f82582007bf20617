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
#include <vector>

#include "libmini/parallel/replicated_module.hpp"

namespace mini::parallel {

/// The base class of the three modules. Calls on_gradient() and on_end() in each backward
/// pass that averages: a pass whose forward() was called outside of no_sync.
class GradientListener : public ReplicatedModule {
  public:
    /// See ReplicatedModule, with broadcast_buffers = true. Adds exactly one hook to each
    /// parameter in trained(); the hook of parameter `index` calls gradient_ready(index).
    explicit GradientListener(nn::Module& module,
                              std::shared_ptr<dist::ProcessGroup> group = nullptr);

    /// Removes the hooks, so that the module can be wrapped again.
    ~GradientListener() override;

  protected:
    /// Called when the gradient of parameter `index` of trained() is ready.
    virtual void on_gradient(size_t index) { (void)index; }

    /// Called once after the last gradient, before backward() returns.
    virtual void on_end() = 0;

    std::vector<Tensor> trained_tensors() const;

  private:
    /// Called after a forward pass outside of no_sync: the next backward pass averages.
    void prepare_for_backward(const Tensor& output) override;
    bool averages_next() const override { return averages_; }

    /// Called by the hooks. Does nothing in a pass that does not average. At the first
    /// gradient of a pass, queues end_backward() with queue_callback(), so that
    /// end_backward() is called once per pass, after the last gradient. Then, at every
    /// gradient, calls on_gradient(index).
    void gradient_ready(size_t index);

    /// Records kBackwardEnd in the event log, and calls on_end(); afterwards no pass averages
    /// until the next prepare_for_backward(). Throws Error, naming the parameter, if a
    /// parameter has no gradient.
    void end_backward();

    std::vector<int> hooks_;     // ids for remove_hook(), in the order of trained()
    bool averages_ = false;      // the next backward pass, or the running one, averages
    bool has_gradient_ = false;  // the running pass has reached its first gradient
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
/// not have this requirement.
class OverlappedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    /// Records kBucketLaunch (index and bytes of the gradient), multiplies the gradient in
    /// place by the float 1 / world size (`ops::mul_`), starts one all-reduce (a sum) of
    /// the gradient, appends the Work to in_flight_, and returns without waiting.
    void on_gradient(size_t index) override;

    /// Waits for the all-reduces in the order of their launches, and calls record_done(i)
    /// after waiting for in_flight_[i]; then empties in_flight_. Throws the error of an
    /// all-reduce that failed; after an error this object cannot be used any more.
    void on_end() override;

    /// Records in the event log that all-reduce number `launch` (from 0) of this pass is
    /// complete.
    void record_done(size_t launch);

    std::vector<dist::WorkHandle> in_flight_;  // of the running backward pass
};

}  // namespace mini::parallel
