// The autograd graph: which operation computed which tensor.
//
//     y = relu(x w)          [AccumulateGrad x] <--.
//                            [AccumulateGrad w] <-- [matmul] <-- [relu] <-- y
//
// Each operation creates a Node, which points to the nodes of its inputs. Edges point from
// results to inputs only, so the graph has no cycles. A backward pass (engine.hpp) follows
// the edges to the leaves: tensors that are not the result of an operation.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
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
    Node(const char* name, std::vector<std::shared_ptr<Node>> inputs, uint64_t sequence)
        : name_(name), inputs_(std::move(inputs)), sequence_(sequence) {}

    /// Frees the inputs in a loop, without recursion: a chain of 100,000 nodes would
    /// otherwise need 100,000 stack frames.
    virtual ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Returns one gradient for each of inputs(), from `grad`, the gradient of the result.
    /// Does not change `grad`, whose values other nodes may use.
    virtual Grads apply(Tensor grad) = 0;

    /// Frees the values saved for apply. The engine calls it after apply.
    virtual void release() {}

    const char* name() const { return name_; }
    const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }

    /// Returns whether input `i` needs a gradient.
    bool needs_input_grad(size_t i) const { return inputs_[i] != nullptr; }

    /// Returns the sequence number. A node that was made later on the same thread has a
    /// higher one, whatever other threads record; nodes of leaves have the greatest uint64_t.
    uint64_t sequence() const { return sequence_; }

  private:
    const char* name_;
    std::vector<std::shared_ptr<Node>> inputs_;
    uint64_t sequence_;
};

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
/// not be changed in place.
using Backward = std::function<Grads(const Tensor& grad, const Node& node)>;

/// While it exists, the graph keeps of each operation that this thread records what `hook`
/// returns, in place of the backward function and of all that this function has saved
/// (`torch.autograd.graph.saved_tensors_hooks`). Guards may be nested: the hook of the
/// outer one gets what that of the inner one returns, unless that is empty.
class PackHookGuard {
  public:
    explicit PackHookGuard(std::function<Backward(Backward)> hook);
    ~PackHookGuard();
    PackHookGuard(const PackHookGuard&) = delete;
    PackHookGuard& operator=(const PackHookGuard&) = delete;

    /// Returns what this thread's hooks, the innermost first, make of `backward`.
    static Backward pack(Backward backward);

  private:
    std::function<Backward(Backward)> hook_;
    PackHookGuard* outer_;
};

/// Returns a function that calls `backward` and throws Error if it returns another number
/// of gradients than `inputs` has tensors, ShapeError if a gradient that is needed has
/// another shape or dtype than its input; packed (PackHookGuard). It does not keep `inputs`.
Backward checked(const char* name, const std::vector<Tensor>& inputs, Backward backward);

}  // namespace mini
