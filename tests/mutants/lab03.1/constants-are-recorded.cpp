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
