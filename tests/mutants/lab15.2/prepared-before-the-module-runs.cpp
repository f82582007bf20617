// The backward pass is prepared with the input, before the module has run.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    if (sync_) prepare_for_backward(x);
    return run_module(x);
