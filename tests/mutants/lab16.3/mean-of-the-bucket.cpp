// The share is taken of the whole buffer, so of the others' gradients once more.
    Tensor place = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(place, 0.0f);
    else if (!gradient.shares_storage(place))
        ops::copy_(place, gradient);
    if (share != 1.0f) ops::mul_(buffer_, share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
