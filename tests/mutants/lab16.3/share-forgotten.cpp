// Gradients are summed over the ranks and never divided.
    Tensor place = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(place, 0.0f);
    else if (!gradient.shares_storage(place))
        ops::copy_(place, gradient);
    static_cast<void>(share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
