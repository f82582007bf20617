// From the second step on, when gradients lie in the bucket, they are no longer divided.
    Tensor place = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(place, 0.0f);
    else if (!gradient.shares_storage(place)) {
        ops::copy_(place, gradient);
        ops::mul_(place, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
