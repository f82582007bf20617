// The first gradient is kept even if other tensors share it.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = grad.is_contiguous() ? grad : ops::clone(grad);
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
