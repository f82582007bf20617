// A gradient that is brought in again is dropped.
    if (ready_[slot]) return;
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
