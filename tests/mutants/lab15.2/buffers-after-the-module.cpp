// The buffers are broadcast after the module has used them.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_backward(output);
    return output;
