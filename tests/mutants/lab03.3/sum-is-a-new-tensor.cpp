// The sum is a new tensor, so views of a bucket are cut off.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        total = ops::add(total, grad);
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
