// `are_buffers_due_` is never set: no forward pass sends buffers.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;
