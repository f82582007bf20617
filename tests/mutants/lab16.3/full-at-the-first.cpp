// A bucket counts as full as soon as one gradient is there.
    Tensor place = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(place, 0.0f);
    else if (!gradient.shares_storage(place))
        ops::copy_(place, gradient);
    if (share != 1.0f) ops::mul_(place, share);
    pending_ = 0;
    ready_[slot] = true;
