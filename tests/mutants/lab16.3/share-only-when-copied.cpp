// From the second step on, when gradients lie in the bucket, they are no longer divided.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view)) {
        ops::copy_(view, gradient);
        ops::mul_(view, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
