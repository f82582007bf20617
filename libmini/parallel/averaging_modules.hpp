// Three simpler modules with the interface of DistributedDataParallel.
//
//                        all-reduces        when
//     AveragedModule     one per parameter  after the backward pass
//     FlatModule         one                after the backward pass, of a flat copy
//     OverlappedModule   one per parameter  as soon as its gradient is ready
//     DDP                one per bucket     as soon as the bucket is full
//
// All train with the same loop: forward, backward(), step. AveragedModule pays the
// latency of a message for every parameter; FlatModule avoids this, but does not
// communicate during the backward pass; OverlappedModule does, again with many messages;
// DDP sends few messages and starts early.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libmini/parallel/replicated_module.hpp"

namespace mini::parallel {

/// The base class of the three modules: calls on_gradient() and on_end() in those backward
/// passes that average, that is, whose forward() was called outside of no_sync.
class GradientListener : public ReplicatedModule {
  public:
    /// See ReplicatedModule; buffers are broadcast before each forward pass. Adds exactly
    /// one hook to each parameter in trained(), which calls gradient_ready(index).
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
    /// Called after a forward pass outside of no_sync: the next pass averages.
    void prepare_for_backward(const Tensor& output) override;

    /// Called by the hooks. Does nothing in a pass that does not average. At the first
    /// gradient of a pass it queues end_backward() with queue_callback(), so that
    /// end_backward() is called once per pass, after the last gradient. Then it calls
    /// on_gradient(index), at every gradient.
    void gradient_ready(size_t index);

    /// Calls on_end(); afterwards no pass averages until prepare_for_backward().
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
/// start their all-reduces in the same order: a model that takes different branches on
/// different ranks fails with MismatchedCollective or, if the shapes are equal, averages
/// one parameter with another. DistributedDataParallel does not have this requirement.
class OverlappedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    /// Multiplies the gradient in place by the float 1 / world size (`ops::mul_`), starts
    /// one all-reduce of it (a sum), and returns without waiting; the Work is kept in
    /// in_flight_.
    void on_gradient(size_t index) override;

    /// Waits for the all-reduces in the order of their launches; after the i-th wait it
    /// calls record_done(i). Then in_flight_ is empty. Throws the error of an all-reduce
    /// that failed; this object can then not be used any more.
    void on_end() override;

    /// Records in the event log that the i-th all-reduce of this pass is complete.
    void record_done(size_t launch);

    std::vector<dist::WorkHandle> in_flight_;  // of the running backward pass
};

}  // namespace mini::parallel
