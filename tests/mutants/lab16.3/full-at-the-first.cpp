// A bucket counts as full as soon as one gradient is there.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    pending_ = 0;
    ready_[slot] = true;
