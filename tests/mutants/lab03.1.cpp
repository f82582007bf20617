// --- accumulator-not-kept
// The accumulator is returned, but the leaf does not keep it.
// region: libmini/autograd/node.cpp 2
    if (leaf.autograd_meta()->accumulator) return leaf.autograd_meta()->accumulator;
    return std::make_shared<AccumulateGrad>(leaf);

// --- all-inputs-must-require-grad
// An operation is recorded only if all of its inputs require grad.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = true;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any && nodes.back() != nullptr;
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- constants-are-recorded
// Operations on constants are recorded, too.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
    }
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- constants-get-an-accumulator
// A tensor that requires no grad is made to require it.
// region: libmini/autograd/node.cpp 1
    if (!x.defined()) return nullptr;
    if (!x.is_leaf()) return x.autograd_meta()->grad_fn;
    Tensor leaf = x;
    leaf.set_requires_grad();
    return grad_accumulator(leaf);

// --- does-not-require-grad
// The result has a node but does not require grad.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- every-tensor-is-a-leaf
// The gradient of a result is sent to an accumulator, which it does not have.
// region: libmini/autograd/node.cpp 1
    if (!x.defined() || !x.requires_grad()) return nullptr;
    return grad_accumulator(x);

// --- frozen-leaf-gets-an-accumulator
// A leaf whose requires_grad was switched off is taken for one that requires grad.
// region: libmini/autograd/node.cpp 1
    if (!x.defined() || x.autograd_meta() == nullptr) return nullptr;
    if (x.autograd_meta()->grad_fn) return x.autograd_meta()->grad_fn;
    Tensor leaf = x;
    leaf.set_requires_grad();
    return grad_accumulator(leaf);

// --- input-becomes-the-result
// An operation that returns its input overwrites the input's autograd state.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- keeps-the-inputs
// The node keeps the input tensors, and with them all values of the forward pass.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    Backward keeping = [inputs, backward](const Tensor& g, const Node& node) {
        return backward(g, node);
    };
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(keeping));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- new-accumulator-each-time
// Each call makes another accumulator: hooks are lost, and nothing is summed first.
// region: libmini/autograd/node.cpp 2
    AutogradMeta& meta = *leaf.autograd_meta();
    meta.accumulator = std::make_shared<AccumulateGrad>(leaf);
    return meta.accumulator;

// --- no-grad-ignored
// Operations are recorded although recording is disabled.
// region: libmini/autograd/node.cpp 3
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- null-entries-left-out
// Inputs that need no gradient are left out, so the others lose their places.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        if (auto node = node_of(input)) nodes.push_back(std::move(node));
        any = !nodes.empty();
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- one-accumulator-for-all
// All leaves of the program share one accumulator.
// region: libmini/autograd/node.cpp 2
    static const auto accumulator = std::make_shared<AccumulateGrad>(leaf);
    leaf.autograd_meta()->accumulator = accumulator;
    return accumulator;

// --- only-the-first-input-decides
// Whether to record is decided by the first input alone.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any || nodes.front() == nullptr) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- only-the-last-input-decides
// Whether to record is decided by the last input alone.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = nodes.back() != nullptr;
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- refers-to-its-result
// The node keeps its own result, so neither is ever freed.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;
    if (result.autograd_meta() != nullptr) result = result.detach();
    Backward keeping = [result, backward](const Tensor& g, const Node& node) {
        return backward(g, node);
    };
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(keeping));
    result.set_autograd_meta(std::move(meta));
    return result;

// --- results-have-no-node
// Only leaves have a node: the graph ends at the first result.
// region: libmini/autograd/node.cpp 1
    if (!x.defined() || !x.requires_grad() || !x.is_leaf()) return nullptr;
    return grad_accumulator(x);

// --- undefined-input-is-read
// An undefined input is asked whether it requires grad.
// region: libmini/autograd/node.cpp 1
    if (!x.requires_grad()) return nullptr;
    if (x.autograd_meta()->grad_fn) return x.autograd_meta()->grad_fn;
    return grad_accumulator(x);

// --- values-are-copied
// The result is a copy of the operation's values.
// region: libmini/autograd/node.cpp 3
    if (!grad_enabled) return result;
    std::vector<std::shared_ptr<Node>> nodes;
    bool any = false;
    for (const Tensor& input : inputs) {
        nodes.push_back(node_of(input));
        any = any || nodes.back() != nullptr;
    }
    if (!any) return result;
    result = ops::clone(result);
    auto meta = std::make_shared<AutogradMeta>();
    meta->requires_grad = true;
    meta->grad_fn =
        std::make_shared<FunctionNode>(name, std::move(nodes), std::move(backward));
    result.set_autograd_meta(std::move(meta));
    return result;
