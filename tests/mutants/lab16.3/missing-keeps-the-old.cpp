// A missing gradient leaves what the last pass has put there.
    Tensor view = gradients_[slot];
    if (gradient.defined()) {
        if (!gradient.shares_storage(view)) ops::copy_(view, gradient);
        ops::mul_(view, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
