// The buffers come from rank 0, not from the rank that begin_iteration has chosen.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(0);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;
