// A gradient that is brought in again is dropped.
    if (ready_[slot]) return;
    Tensor place = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(place, 0.0f);
    else if (!gradient.shares_storage(place))
        ops::copy_(place, gradient);
    if (share != 1.0f) ops::mul_(place, share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
