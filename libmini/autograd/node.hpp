// The graph of autograd: which function made which tensor, and how a gradient passes back
// through it.
//
//     y = relu(x w)          [AccumulateGrad x] <--.
//                            [AccumulateGrad w] <-- [matmul] <-- [relu] <-- y
//
// Each operation that makes a tensor leaves a Node behind, which points to the nodes of
// its inputs. A leaf, a tensor made by no operation, ends the walk: its AccumulateGrad
// adds what arrives to the leaf's grad() and then calls the hooks, which is where
// distributed training listens. Arrows point from results to inputs only, so tensors and
// nodes form no cycle.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Gradients for the inputs of a node, in their order; undefined for one that needs none.
using Grads = std::vector<Tensor>;

/// One operation in the graph (`torch.autograd.graph.Node`).
class Node {
  public:
    /// `inputs` are the nodes that the gradient goes on to, null where it is not needed.
    Node(const char* name, std::vector<std::shared_ptr<Node>> inputs, uint64_t sequence);

    /// Frees the chain of inputs one after the other: a graph of 100,000 nodes must not
    /// need 100,000 stack frames.
    virtual ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// The share of each input in `grad`, the gradient of the result.
    virtual Grads apply(Tensor grad) = 0;

    /// Drops the values kept for apply; called once the gradient has passed.
    virtual void release() {}

    const char* name() const { return name_; }
    const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }

    /// Whether input `i` wants its share.
    bool needs(size_t i) const { return inputs_[i] != nullptr; }

    /// Nodes are numbered as they are made, on each thread; the engine goes from high to
    /// low.
    uint64_t sequence() const { return sequence_; }

  private:
    const char* name_;
    std::vector<std::shared_ptr<Node>> inputs_;
    uint64_t sequence_;
};

/// Called with a leaf after a gradient has been added to its grad().
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// The end of the walk at one leaf (`AccumulateGrad`).
class AccumulateGrad : public Node {
  public:
    explicit AccumulateGrad(const Tensor& leaf);
    Grads apply(Tensor grad) override;

    /// Adds a hook, called in the order of registration
    /// (`Tensor.register_post_accumulate_grad_hook`); the number takes it off again.
    /// Hooks stay until then, over any number of backward passes.
    int add_hook(PostAccumulateHook hook);
    void remove_hook(int id);

  private:
    WeakTensor leaf_;
    std::map<int, PostAccumulateHook> hooks_;
    int next_hook_ = 0;
};

/// What a tensor knows of the graph.
struct AutogradMeta {
    bool requires_grad = false;
    Tensor grad;                                  // of a leaf
    std::shared_ptr<Node> grad_fn;                // of a result: the node that made it
    std::shared_ptr<AccumulateGrad> accumulator;  // of a leaf, made at first use
};

/// The accumulator of a leaf that requires grad, made when it is not there yet. Throws
/// Error for any other tensor.
std::shared_ptr<AccumulateGrad> grad_accumulator(const Tensor& leaf);

/// A value that a node keeps for its backward pass, with the version it had. It holds no
/// part of the graph, so a node may keep its own result.
class SavedTensor {
  public:
    SavedTensor() = default;
    explicit SavedTensor(const Tensor& value);

    /// The value. Throws Error when it has been changed in place since.
    const Tensor& get() const;

  private:
    Tensor value_;
    uint64_t version_ = 0;
};

/// How a gradient passes through an operation: its share for each input, where
/// node.needs(i).
using Backward = std::function<Grads(const Tensor& grad, const Node& node)>;

/// Notes in the graph that `result` was made from `inputs`, unless none of them requires
/// grad or recording is off; returns `result`. The one line at the end of every
/// differentiable function.
Tensor record(const char* name, Tensor result, const std::vector<Tensor>& inputs,
              Backward backward);

/// Whether operations are recorded on this thread (`torch.is_grad_enabled`).
bool is_grad_enabled();

/// Switches recording off on this thread for as long as it lives (`torch.no_grad`).
class NoGradGuard {
  public:
    NoGradGuard();
    ~NoGradGuard();
    NoGradGuard(const NoGradGuard&) = delete;
    NoGradGuard& operator=(const NoGradGuard&) = delete;

  private:
    bool previous_;
};

/// Calls `callback` at the end of the backward pass under way on this thread, after the
/// last gradient. Throws Error outside of one. This is how distributed training waits for
/// its last bucket (`Engine::queue_callback`).
void queue_callback(std::function<void()> callback);

}  // namespace mini
