// Recording: record() adds the node of an operation to the graph, and the node of a leaf,
// its AccumulateGrad, adds gradients to the leaf's grad() and calls the hooks; distributed
// training adds such hooks.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "libmini/autograd/graph.hpp"

namespace mini {

/// A hook, called with a leaf after a gradient has been added to the leaf's grad().
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// The node of a leaf; accumulates the leaf's gradient (`AccumulateGrad`). It has no
/// inputs, and does not keep its leaf alive.
class AccumulateGrad : public Node {
  public:
    explicit AccumulateGrad(const Tensor& leaf);

    /// Adds `grad` to the leaf's grad(), then calls the hooks, and returns no gradients.
    /// A grad() that exists is changed in place: it may be a view (of a bucket). Otherwise
    /// grad() becomes a contiguous tensor whose values nothing else refers to: `grad` or a
    /// copy. Does nothing if the leaf no longer exists. Throws ShapeError, and changes
    /// nothing, unless `grad` has the leaf's shape and dtype. Threads may call it at the
    /// same time (AutogradMeta::mutex): each addition and its hooks complete before the
    /// next. REQUIRES: an existing grad() is contiguous; `grad` shares no storage with it.
    Grads apply(Tensor grad) override;

    /// Registers a hook for all later backward passes
    /// (`Tensor.register_post_accumulate_grad_hook`), and returns its id for remove_hook.
    /// Hooks are called in the order of registration. REQUIRES: a hook does not add or
    /// remove hooks of its leaf.
    int add_hook(PostAccumulateHook hook);

    /// Removes the hook with this id, if there is one.
    void remove_hook(int id);

  private:
    WeakTensor leaf_;
    std::map<int, PostAccumulateHook> hooks_;
    int next_hook_ = 0;
};

/// Returns the accumulator of a leaf that requires grad; creates it at first use, and
/// returns the same one from then on, with its hooks. Throws Error for any other tensor.
/// Threads may call it with the same leaf at the same time (AutogradMeta::mutex).
std::shared_ptr<AccumulateGrad> grad_accumulator(const Tensor& leaf);

/// Records in the graph that `result` was computed from `inputs`, and returns `result`,
/// which then requires grad and is not a leaf: its grad_fn is a new node with one entry in
/// inputs() for each of `inputs`, null for one that is undefined or does not require grad.
/// If no input requires grad, or recording is disabled, only returns `result`. If `result`
/// has an autograd state already (an operation that has nothing to compute may return its
/// input), records a detached `result`, which shares its values. The graph keeps the nodes
/// of `inputs`, not the tensors. Every differentiable function calls record() last.
///
/// apply() of the node calls `backward` with the gradient and the node; what it returns is
/// checked: see checked(). release() frees `backward`, with all that it has captured;
/// after it, apply() throws an Error that names the operation and retain_graph.
Tensor record(const char* name, Tensor result, const std::vector<Tensor>& inputs,
              Backward backward);

}  // namespace mini
