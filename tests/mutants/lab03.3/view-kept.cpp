// The first gradient is kept as it is, also an expanded view.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = grad;
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
