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
