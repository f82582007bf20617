// Every pass averages, also within no_sync.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    prepare_for_forward();
    Tensor output = run_module(x);
    prepare_for_backward(output);
    return output;
