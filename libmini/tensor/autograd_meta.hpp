// The autograd state of a tensor, and whether a thread records operations.
//
// The graph is in autograd/graph.hpp. The state is declared here, because the functions
// that change a tensor in place read it: they record nothing, so a change to a tensor of
// the graph would make the gradients wrong without an error.

#pragma once

#include <memory>
#include <mutex>

#include "libmini/tensor/tensor.hpp"

namespace mini {

class Node;            // autograd/graph.hpp
class AccumulateGrad;  // autograd/node.hpp

/// The autograd state of a tensor.
struct AutogradMeta {
    bool requires_grad = false;
    Tensor grad;                                  // of a leaf
    std::shared_ptr<Node> grad_fn;                // of a result; null for a leaf
    std::shared_ptr<AccumulateGrad> accumulator;  // of a leaf; created at first use
    bool is_averaged = false;  // a wrapper of libmini/parallel averages `grad` over ranks

    // Locked while the accumulator is created or adds a gradient: several threads may use
    // one leaf. Recursive, because a hook may start another backward pass.
    std::recursive_mutex mutex;
};

/// Returns whether operations are recorded on this thread (`torch.is_grad_enabled`).
bool is_grad_enabled();

/// Enables or disables recording on this thread while the guard is in scope
/// (`torch.set_grad_enabled`).
class GradModeGuard {
  public:
    explicit GradModeGuard(bool enabled);
    ~GradModeGuard();
    GradModeGuard(const GradModeGuard&) = delete;
    GradModeGuard& operator=(const GradModeGuard&) = delete;

  private:
    bool previous_;
};

/// Disables recording on this thread while the guard is in scope (`torch.no_grad`).
class NoGradGuard : public GradModeGuard {
  public:
    NoGradGuard() : GradModeGuard(false) {}
};

/// Throws Error if this thread records operations and x or `source` requires grad:
/// `name`, a function that writes to x, does not record the change. `instead` is a
/// function that records, for the message. `source` may be undefined.
void check_not_recorded(const char* name, const Tensor& x, const Tensor& source,
                        const char* instead);

}  // namespace mini
