#include "libmini/autograd/node.hpp"

#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

#include "libmini/tensor/ops.hpp"

// [lab03 file]
namespace mini {
namespace {

thread_local uint64_t next_sequence = 0;

// The node of one operation; stores its backward function until release().
class FunctionNode : public Node {
  public:
    FunctionNode(const char* name, std::vector<std::shared_ptr<Node>> inputs,
                 Backward backward)
        : Node(name, std::move(inputs), next_sequence++),
          backward_(std::move(backward)) {}

    Grads apply(Tensor grad) override {
        MINI_CHECK(
            backward_ != nullptr, "backward: the graph through ", name(),
            " was freed by an earlier backward pass; compute the loss again, or pass "
            "retain_graph = true the first time");
        return backward_(grad, *this);
    }

    void release() override { backward_ = nullptr; }

  private:
    Backward backward_;
};

// Returns the node that receives the gradient of `x`; null if x does not require grad.
std::shared_ptr<Node> node_of(const Tensor& x) {
    // [lab03.2] Find the node at which the gradient of a tensor arrives.
    if (!x.defined() || !x.requires_grad()) return nullptr;
    if (x.autograd_meta()->grad_fn) return x.autograd_meta()->grad_fn;
    return grad_accumulator(x);
    // [lab03.2]
}

// Returns `grad` itself if nothing else refers to its values, otherwise a contiguous copy.
Tensor own(Tensor grad) {
    if (grad.is_unique() && grad.is_contiguous()) return grad;
    return ops::clone(grad);
}

}  // namespace

AccumulateGrad::AccumulateGrad(const Tensor& leaf)
    : Node("AccumulateGrad", {}, std::numeric_limits<uint64_t>::max()), leaf_(leaf) {}

Grads AccumulateGrad::apply(Tensor grad) {
    Tensor leaf = leaf_.lock();
    if (!leaf.defined()) return {};
    check_shape(grad.shape() == leaf.shape() && grad.dtype() == leaf.dtype(),
                "backward: a gradient of ", grad.dtype(), " and shape ", grad.shape(),
                " arrived at a leaf of ", leaf.dtype(), " and shape ", leaf.shape());

    const std::lock_guard lock(leaf.autograd_meta()->mutex);
    // [lab03.4] Add to the leaf's gradient, then call the hooks.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
    // [lab03.4]
}

int AccumulateGrad::add_hook(PostAccumulateHook hook) {
    hooks_.emplace(next_hook_, std::move(hook));
    return next_hook_++;
}

void AccumulateGrad::remove_hook(int id) { hooks_.erase(id); }

std::shared_ptr<AccumulateGrad> grad_accumulator(const Tensor& leaf) {
    MINI_CHECK(
        leaf.requires_grad() && leaf.is_leaf(),
        "grad_accumulator: only a leaf that requires grad has one; this tensor ",
        leaf.is_leaf() ? "does not require grad" : "is the result of an operation");
    const std::lock_guard lock(leaf.autograd_meta()->mutex);
    // [lab03.2] Give each leaf one accumulator.
    AutogradMeta& meta = *leaf.autograd_meta();
    if (!meta.accumulator) meta.accumulator = std::make_shared<AccumulateGrad>(leaf);
    return meta.accumulator;
    // [lab03.2]
}

Tensor record(const char* name, Tensor result, const std::vector<Tensor>& inputs,
              Backward backward) {
    const bool grad_enabled = is_grad_enabled();
    if (grad_enabled) backward = checked(name, inputs, std::move(backward));
    // [lab03.2] Connect the result with the nodes of the inputs.
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    nodes.reserve(inputs.size());
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;

    // An operation may return its input if there was nothing to compute; the graph needs
    // a separate tensor.
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;
    // [lab03.2]
}

}  // namespace mini
// [lab03 file]
