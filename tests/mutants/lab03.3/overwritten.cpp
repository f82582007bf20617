// A gradient replaces those of earlier passes.
    Tensor& total = leaf.autograd_meta()->grad;
    total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
