#include "libmini/autograd/graph.hpp"

namespace mini {
namespace {

thread_local PackHookGuard* innermost = nullptr;

// Throws unless `grads` has a gradient of the right shape and dtype for each input that
// needs one.
void check_grads(const char* name, const Node& node, const Grads& grads,
                 const std::vector<Shape>& shapes) {
    const size_t inputs = node.inputs().size();
    MINI_CHECK(grads.size() == inputs, "backward: the backward function of ", name,
               " returned ", grads.size(), " gradients, but the operation has ", inputs,
               " inputs; return one for each, undefined if not needed");
    for (size_t i = 0; i < inputs; ++i) {
        if (!node.needs_input_grad(i) || !grads[i].defined()) continue;
        check_shape(grads[i].shape() == shapes[i] && grads[i].dtype() == DType::kFloat32,
                    "backward: the backward function of ", name, " returned a ",
                    grads[i].dtype(), " gradient of shape ", grads[i].shape(),
                    " for input ", i, ", which is a float32 tensor of shape ", shapes[i]);
    }
}

}  // namespace

Node::~Node() {
    // The outermost destructor frees the nodes of a list; nested destructors only append
    // their inputs to the list.
    thread_local std::vector<std::shared_ptr<Node>>* pending = nullptr;
    if (pending != nullptr) {
        for (auto& input : inputs_) pending->push_back(std::move(input));
        return;
    }
    std::vector<std::shared_ptr<Node>> list = std::move(inputs_);
    pending = &list;
    while (!list.empty()) {
        const std::shared_ptr<Node> last = std::move(list.back());
        list.pop_back();
    }
    pending = nullptr;
}

SavedTensor::SavedTensor(const Tensor& value) {
    if (!value.defined()) return;
    value_ = value.detach();
    version_ = value.version();
}

const Tensor& SavedTensor::get() const {
    MINI_CHECK(!value_.defined() || value_.version() == version_,
               "backward: a tensor of shape ", value_.shape(),
               " that the gradient needs was changed in place since (version ",
               value_.version(), ", expected ", version_, "); change a clone instead");
    return value_;
}

PackHookGuard::PackHookGuard(std::function<Backward(Backward)> hook)
    : hook_(std::move(hook)), outer_(std::exchange(innermost, this)) {}
PackHookGuard::~PackHookGuard() { innermost = outer_; }

Backward PackHookGuard::pack(Backward backward) {
    for (PackHookGuard* guard = innermost; guard && backward; guard = guard->outer_)
        backward = guard->hook_(std::move(backward));
    return backward;
}

Backward checked(const char* name, const std::vector<Tensor>& inputs, Backward backward) {
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs)
        shapes.push_back(input.defined() ? input.shape() : Shape());
    return PackHookGuard::pack(
        [name, shapes = std::move(shapes), backward = std::move(backward)](
            const Tensor& grad, const Node& node) {
            Grads grads = backward(grad, node);
            check_grads(name, node, grads, shapes);
            return grads;
        });
}

}  // namespace mini
