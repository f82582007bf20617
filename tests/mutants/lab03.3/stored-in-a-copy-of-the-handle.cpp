// The gradient is assigned to a local handle.
    Tensor total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
