// Buffers that are due are not sent within no_sync, although begin_iteration was told so.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers && sync_) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;
