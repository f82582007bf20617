// The autograd graph: records which operation computed which tensor, and how to compute
// the gradients of the operation's inputs.
//
//     y = relu(x w)          [AccumulateGrad x] <--.
//                            [AccumulateGrad w] <-- [matmul] <-- [relu] <-- y
//
// Each operation creates a Node, which points to the nodes of its inputs. The backward
// pass ends at the leaves: tensors that are not the result of an operation. A leaf's
// AccumulateGrad adds the gradient to the leaf's grad(), and then calls the hooks;
// distributed training adds such hooks. Edges point from results to inputs only, so the
// graph has no cycles.
//
// A backward pass (engine.cpp) calls apply() of a node once, with the sum of all
// contributions; if all of them are undefined, it does not call apply(), but counts the
// node for its inputs. It calls release() before it sends the results on. Of the ready
// nodes, the one with the highest sequence() goes first, and of equal ones, the one that
// was ready first. Nothing is recorded during a pass, so gradients have no graph. A hook
// may start another pass, and a callback may queue another callback.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

/// The gradients of a node's inputs, in order. The gradient of an input that needs none
/// may be undefined, and is ignored.
using Grads = std::vector<Tensor>;

/// One operation in the graph (`torch.autograd.graph.Node`).
class Node {
  public:
    /// `inputs` are the nodes of the inputs, null for an input that needs no gradient.
    Node(const char* name, std::vector<std::shared_ptr<Node>> inputs, uint64_t sequence);

    /// Frees the inputs in a loop, without recursion: a chain of 100,000 nodes would
    /// otherwise need 100,000 stack frames.
    virtual ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Computes the gradients of the inputs from `grad`, the gradient of the result. Does
    /// not change `grad`, whose values other nodes may use.
    virtual Grads apply(Tensor grad) = 0;

    /// Frees the values saved for apply. The engine calls it after apply.
    virtual void release() {}

    const char* name() const { return name_; }
    const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }

    /// Returns whether input `i` needs a gradient.
    bool needs_input_grad(size_t i) const { return inputs_[i] != nullptr; }

    /// Returns the sequence number: each thread numbers its nodes in order of creation;
    /// the nodes of leaves have the greatest uint64_t. The engine processes the ready node
    /// with the highest number first, so a leaf gets its gradient as soon as it is
    /// complete, before the rest of the pass.
    uint64_t sequence() const { return sequence_; }

  private:
    const char* name_;
    std::vector<std::shared_ptr<Node>> inputs_;
    uint64_t sequence_;
};

/// A hook, called with a leaf after a gradient has been added to the leaf's grad().
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// The node of a leaf; accumulates the leaf's gradient (`AccumulateGrad`).
class AccumulateGrad : public Node {
  public:
    explicit AccumulateGrad(const Tensor& leaf);

    /// Adds `grad` to the leaf's grad(), then calls the hooks, and returns no gradients.
    /// A grad() that exists is changed in place, because other tensors may be views of it
    /// (buckets). Otherwise grad() becomes a tensor whose values nothing else refers to:
    /// `grad` itself or a copy. Does nothing if the leaf no longer exists. Throws
    /// ShapeError unless `grad` has the leaf's shape and dtype. Threads may call it at the
    /// same time: each addition and its hooks complete before the next.
    Grads apply(Tensor grad) override;

    /// Registers a hook for all later backward passes
    /// (`Tensor.register_post_accumulate_grad_hook`), and returns its id for remove_hook.
    /// Hooks are called in the order of registration. A hook adds and removes no hooks of
    /// its leaf.
    int add_hook(PostAccumulateHook hook);

    /// Removes the hook with this id.
    void remove_hook(int id);

  private:
    WeakTensor leaf_;
    std::map<int, PostAccumulateHook> hooks_;
    int next_hook_ = 0;
};

/// Returns the accumulator of a leaf that requires grad; creates it at first use, and
/// returns the same one from then on, with its hooks. Throws Error for any other tensor.
/// Threads may call it with the same leaf at the same time.
std::shared_ptr<AccumulateGrad> grad_accumulator(const Tensor& leaf);

/// A tensor that a node saves for its backward pass, with the tensor's version at that
/// time. The saved tensor is detached from the graph, so a node may save its own result.
/// An undefined tensor (a missing bias) may be saved, too, and is returned as such.
class SavedTensor {
  public:
    SavedTensor() = default;
    explicit SavedTensor(const Tensor& value);

    /// Returns the saved tensor. Throws Error if the tensor was changed in place after it
    /// was saved.
    const Tensor& get() const;

  private:
    Tensor value_;
    uint64_t version_ = 0;
};

/// A backward function: computes the gradients of the inputs from `grad`, the gradient of
/// the result. Returns one gradient for each input, in the order of record()'s inputs,
/// with the input's shape and dtype; the gradient of input i may be undefined, and is
/// ignored, unless node.needs_input_grad(i). A gradient may be `grad` itself; `grad` must
/// not be changed in place. The backward pass throws Error for another number of
/// gradients, ShapeError for another shape or dtype.
using Backward = std::function<Grads(const Tensor& grad, const Node& node)>;

/// Records in the graph that `result` was computed from `inputs`, and returns `result`,
/// which then requires grad and is not a leaf: its grad_fn is a new node with one entry in
/// inputs() for each of `inputs`, null for one that is undefined or does not require grad.
/// If no input requires grad, or recording is disabled, only returns `result`. If `result`
/// has an autograd state already (an operation that has nothing to compute may return its
/// input), records a detached `result`, which shares its values. The graph keeps the nodes
/// of `inputs`, not the tensors. Every differentiable function calls record() last.
Tensor record(const char* name, Tensor result, const std::vector<Tensor>& inputs,
              Backward backward);

/// Calls `callback` at the end of the backward pass that is running on this thread, after
/// the last gradient (`Engine::queue_callback`). Throws Error if no backward pass is
/// running. Distributed training waits for its last bucket in such a callback.
void queue_callback(std::function<void()> callback);

}  // namespace mini
