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

/// The base class of the three modules: calls on_gradient() and on_end() in backward.
class GradientListener : public ReplicatedModule {
  public:
    /// See ReplicatedModule; buffers are broadcast before each forward pass.
    explicit GradientListener(nn::Module& module,
                              std::shared_ptr<dist::ProcessGroup> group = nullptr);
    ~GradientListener() override;

  protected:
    /// Called when the gradient of parameter `index` is ready.
    virtual void on_gradient(size_t index) { (void)index; }

    /// Called once after the last gradient, before backward() returns.
    virtual void on_end() = 0;

    std::vector<Tensor> trained_tensors() const;

  private:
    void prepare_for_backward(const Tensor& output) override;

    std::vector<int> hooks_;
    bool expecting_ = false;  // the next backward pass will be averaged
    bool started_ = false;    // that pass has reached its first gradient
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

/// Starts an all-reduce for each gradient as soon as it is ready. REQUIRES: gradients
/// become ready in the same order on all ranks, since all ranks must start their
/// all-reduces in the same order: a model that takes different branches on different
/// ranks fails with MismatchedCollective or, if the shapes are equal, averages one
/// parameter with another. DistributedDataParallel does not have this requirement.
class OverlappedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    void on_gradient(size_t index) override;
    void on_end() override;

    std::vector<dist::WorkHandle> under_way_;
};

}  // namespace mini::parallel
