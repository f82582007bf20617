// A gradient that comes twice counts for two.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    --pending_;
    ready_[slot] = true;
