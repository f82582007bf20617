// The elements are added without regard to the strides.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, grad);
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
