// --- again-added
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

// --- again-ignored
// A gradient that is brought in again is dropped.
    if (ready_[slot]) return;
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;

// --- counted-twice
// A gradient that comes twice counts for two.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    --pending_;
    ready_[slot] = true;

// --- full-at-the-first
// A bucket counts as full as soon as one gradient is there.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    pending_ = 0;
    ready_[slot] = true;

// --- mean-of-the-bucket
// The share is taken of the whole buffer, so of the others' gradients once more.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(buffer_, share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;

// --- missing-keeps-the-old
// A missing gradient leaves what the last pass has put there.
    Tensor view = gradients_[slot];
    if (gradient.defined()) {
        if (!gradient.shares_storage(view)) ops::copy_(view, gradient);
        ops::mul_(view, share);
    }
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;

// --- share-forgotten
// Gradients are summed over the ranks and never divided.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    static_cast<void>(share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;

// --- share-only-when-copied
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
