// Hooks are looked up by the numbers from 0, although one may have been removed.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    const int count = static_cast<int>(hooks_.size());
    for (int id = 0; id < count; ++id)
        if (hooks_.count(id) == 1) hooks_.at(id)(leaf);
    return {};
