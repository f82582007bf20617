// Three rungs of the ladder to DistributedDataParallel, with its interface.
//
//                        all-reduces        when
//     AveragedModule     one per parameter  after the backward pass
//     FlatModule         one                after it, from a flat copy
//     OverlappedModule   one per parameter  as soon as its gradient is there
//     DDP                one per bucket     as soon as the bucket is full
//
// Each trains with the same loop: forward, backward(), step. Each fixes what the one
// before it wastes: a message's latency for every parameter; the time of the backward
// pass, in which nothing is sent; and DDP at last has both, few messages and early ones.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libmini/parallel/replicated_module.hpp"

namespace mini::parallel {

/// Listens to the gradients of a backward pass: the way in for all rungs.
class GradientListener : public ReplicatedModule {
  public:
    /// See ReplicatedModule; buffers go out before each forward pass.
    explicit GradientListener(nn::Module& module,
                              std::shared_ptr<dist::ProcessGroup> group = nullptr);
    ~GradientListener() override;

  protected:
    /// Called when the gradient of parameter `index` is there, in the order in which they
    /// come, and once after the last one, before backward() returns.
    virtual void on_gradient(size_t index) { (void)index; }
    virtual void on_end() = 0;

    std::vector<Tensor> trained_tensors() const;

  private:
    void prepare_for_backward(const Tensor& output) override;

    std::vector<int> hooks_;
    bool expecting_ = false;  // the next backward pass is to be averaged
    bool started_ = false;    // it has reached its first gradient
};

/// average_gradients at the end of each backward pass.
class AveragedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    void on_end() override;
};

/// average_flat_gradients at the end of each backward pass.
class FlatModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    void on_end() override;
};

/// An all-reduce for each gradient as soon as it is there. REQUIRES: gradients come in the
/// same order on all ranks, since all-reduces must start so: a model whose ranks take
/// different ways fails with MismatchedCollective, or averages one parameter with another
/// where shapes are equal. DistributedDataParallel needs no such promise.
class OverlappedModule : public GradientListener {
  public:
    using GradientListener::GradientListener;

  private:
    void on_gradient(size_t index) override;
    void on_end() override;

    std::vector<dist::WorkHandle> under_way_;
};

}  // namespace mini::parallel
