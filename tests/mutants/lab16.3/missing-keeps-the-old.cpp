// A missing gradient leaves what the last pass has put there.
    Tensor place = gradients_[slot];
    if (gradient.defined()) {
        if (!gradient.shares_storage(place)) ops::copy_(place, gradient);
        ops::mul_(place, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
