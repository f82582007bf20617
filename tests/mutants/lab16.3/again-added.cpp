// A gradient that is brought in again is added to the first.
    Tensor place = gradients_[slot];
    if (!gradient.defined()) {
        ops::fill_(place, 0.0f);
    } else if (ready_[slot]) {
        Tensor part = ops::clone(gradient);
        ops::mul_(part, share);
        ops::add_(place, part);
    } else {
        if (!gradient.shares_storage(place)) ops::copy_(place, gradient);
        ops::mul_(place, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
