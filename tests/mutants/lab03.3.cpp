// --- added-as-it-lies
// The elements are added without regard to the strides.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, grad);
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};

// --- counted-twice
// The first gradient is added to itself.
    Tensor& total = leaf.autograd_meta()->grad;
    if (!total.defined()) total = ops::clone(grad);
    ops::add_(total, ops::contiguous(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};

// --- gradient-returned
// The gradient is returned, as if the leaf had an input.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {total};

// --- hooks-by-number
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

// --- hooks-first
// The hooks are called before the gradient is added.
    for (const auto& [id, hook] : hooks_) hook(leaf);
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    return {};

// --- hooks-from-the-last
// The hooks are called from the last to the first.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (auto it = hooks_.rbegin(); it != hooks_.rend(); ++it) it->second(leaf);
    return {};

// --- hooks-get-the-gradient
// The hooks get the gradient, not the leaf.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(total);
    return {};

// --- hooks-only-at-the-first-gradient
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

// --- no-hooks
// No hook is called.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    return {};

// --- only-the-newest-hook
// Only the hook that was registered last is called.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    if (!hooks_.empty()) hooks_.rbegin()->second(leaf);
    return {};

// --- overwritten
// A gradient replaces those of earlier passes.
    Tensor& total = leaf.autograd_meta()->grad;
    total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};

// --- shared-gradient-kept
// The first gradient is kept even if other tensors share it.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = grad.is_contiguous() ? grad : ops::clone(grad);
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};

// --- stored-in-a-copy-of-the-handle
// The gradient is assigned to a local handle.
    Tensor total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};

// --- sum-is-a-new-tensor
// The sum is a new tensor, so views of a bucket are cut off.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        total = ops::add(total, grad);
    else
        total = own(std::move(grad));
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};

// --- view-kept
// The first gradient is kept as it is, also an expanded view.
    Tensor& total = leaf.autograd_meta()->grad;
    if (total.defined())
        ops::add_(total, ops::contiguous(grad));
    else
        total = grad;
    for (const auto& [id, hook] : hooks_) hook(leaf);
    return {};
