// The hooks are called from the last to the first.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (auto it = hooks_.rbegin(); it != hooks_.rend(); ++it) it->second(leaf);
    return {};
