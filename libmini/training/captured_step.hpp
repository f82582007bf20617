// CapturedStep: a step of training on a GPU, recorded once as a CUDA graph.
//
//     call 1, 2      forward, loss, backward, SGD: some 60 launches of a few microseconds
//     call 3         the same recorded, and then replayed
//     call 4, ...    the batch copied to where the graph reads it, one launch
//
// A graph repeats its launches to the last argument. So what changes from step to step
// has to lie in memory: the batch, and a number that random draws add to their offset,
// moved on by each replay, or else all masks of dropout would be the same. A learning
// rate is an argument; when it changes the step is recorded again. What the graph
// allocates comes from a pool of its own, since that memory must not be reused between
// two replays.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/optim/optimizer.hpp"

namespace mini::training {

/// `torch.cuda.make_graphed_callables` of a whole step. All calls are from one thread.
class CapturedStep {
  public:
    /// The loss, a scalar, of a batch: inputs, targets and the like.
    using Loss = std::function<Tensor(const std::vector<Tensor>& batch)>;

    /// `loss` must do the same for every batch of one shape, and must not look at numbers
    /// on the device, communicate, nor copy to or from the host. Throws UsageError unless
    /// the optimizer is SGD, all its parameters are on one GPU. REQUIRES: the optimizer
    /// outlives this object.
    CapturedStep(optim::Optimizer& optimizer, Loss loss);

    /// Blocks until the device is done with the graph.
    ~CapturedStep();
    CapturedStep(const CapturedStep&) = delete;
    CapturedStep& operator=(const CapturedStep&) = delete;

    /// zero_grad(), loss, backward() and step(), in the order of the current stream, and
    /// returns the loss, outside the graph of autograd; the next call overwrites it. The
    /// batch may be on any device; from the CPU's memory it blocks until copied. A batch
    /// of other shapes than the first one's is not recorded but computed as usual. Throws
    /// CudaError when `loss` does what cannot be recorded.
    Tensor operator()(const std::vector<Tensor>& batch);

    /// How many calls were replays so far.
    int64_t replays() const { return replays_; }

  private:
    struct Recorded;

    Tensor compute(const std::vector<Tensor>& batch);
    bool takes(const std::vector<Tensor>& batch) const;
    void record();
    void replay();

    optim::Optimizer& optimizer_;
    Loss loss_;
    std::unique_ptr<Recorded> recorded_;
    int64_t replays_ = 0;
};

}  // namespace mini::training
