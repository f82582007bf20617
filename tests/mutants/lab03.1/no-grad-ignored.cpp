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
