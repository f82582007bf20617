// The hooks are called only when the gradient is stored, not when it is added.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
    {
        total = own(std::move(grad));
        for (const auto& [id, hook] : hooks_) hook(leaf);
    }
    return {};
