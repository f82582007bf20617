// A gradient that is brought in again is added to the first.
    Tensor view = gradients_[slot];
    if (!gradient.defined()) {
        ops::fill_(view, 0.0f);
    } else if (ready_[slot]) {
        Tensor part = ops::clone(gradient);
        ops::mul_(part, share);
        ops::add_(view, part);
    } else {
        if (!gradient.shares_storage(view)) ops::copy_(view, gradient);
        ops::mul_(view, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
