// The first gradient is added to itself.
    Tensor& total = leaf.autograd_meta()->grad;
    if (!total.defined()) total = ops::clone(grad);
    ops::add_(total, ops::contiguous(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
