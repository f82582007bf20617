// Gradients are summed over the ranks and never divided.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    static_cast<void>(share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
