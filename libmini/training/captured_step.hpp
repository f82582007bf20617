// CapturedStep: a training step on a GPU, captured once as a CUDA graph.
//
//     call 1, 2      forward, loss, backward, SGD: some 45 launches of a few microseconds
//     call 3         captures the same launches as a graph, and replays the graph
//     call 4, ...    copies the batch to the graph's input tensors, and replays the graph
//
// A graph repeats its launches with exactly the same arguments. So values that change
// from step to step must be in device memory: the batch, the learning rate, and a number
// that random draws add to their offset. Each replay increases this number; otherwise all
// dropout masks would be equal. The graph has its own memory pool, because its memory
// must not be reused between two replays.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/optim/optimizer.hpp"

namespace mini::training {

/// `torch.cuda.make_graphed_callables` for a whole step. Call it from one thread only.
class CapturedStep {
  public:
    /// Returns the loss, a scalar, of a batch, e.g. of {inputs, targets}.
    using Loss = std::function<Tensor(const std::vector<Tensor>& batch)>;

    /// Throws UsageError unless the optimizer is SGD and all its parameters are on one
    /// GPU. REQUIRES: the optimizer outlives this object; `loss` runs the same operations
    /// for every batch of the same shapes, and does not read values from the device,
    /// communicate, or copy to or from the host.
    CapturedStep(optim::Optimizer& optimizer, Loss loss);

    /// Blocks until the device has finished the graph's work.
    ~CapturedStep();
    CapturedStep(const CapturedStep&) = delete;
    CapturedStep& operator=(const CapturedStep&) = delete;

    /// Runs zero_grad(), loss, backward() and step() in the order of the current stream.
    /// Returns the loss without an autograd graph; the next call overwrites this tensor.
    /// The batch may be on any device. If the batch is in pinned memory, it is copied in
    /// the order of the current stream: it may be freed, but not changed, before the
    /// stream has completed. If it is in other CPU memory, blocks until it is copied. A
    /// batch whose shapes or dtypes differ from those of the first batch is computed
    /// without a CUDA graph. Throws CudaError if `loss` runs an operation that cannot be
    /// captured.
    Tensor operator()(const std::vector<Tensor>& batch);

    /// Returns the number of replays so far.
    int64_t replays() const { return replays_; }

  private:
    struct Capture;

    Tensor compute(const std::vector<Tensor>& batch);
    bool matches_inputs(const std::vector<Tensor>& batch) const;
    void capture();
    void replay();

    optim::Optimizer& optimizer_;
    Loss loss_;
    std::unique_ptr<Capture> capture_;
    int64_t replays_ = 0;
};

}  // namespace mini::training
