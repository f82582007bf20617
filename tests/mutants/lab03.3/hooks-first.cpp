// The hooks are called before the gradient is added.
    for (const auto& [id, hook] : hooks_) hook(leaf);
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    return {};
