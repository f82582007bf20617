// --- broadcast-on-rank-0-only
// Only rank 0 broadcasts its buffers: the others do not receive.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers && group_->rank() == 0) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;

// --- buffers-after-the-module
// The buffers are broadcast after the module has used them.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_backward(output);
    return output;

// --- buffers-always-from-rank-0
// The buffers come from rank 0, not from the rank that begin_iteration has chosen.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(0);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;

// --- buffers-sent-once-only
// `are_buffers_due_` is never set: no forward pass sends buffers.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;

// --- no-buffers-within-no-sync
// Buffers that are due are not sent within no_sync, although begin_iteration was told so.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers && sync_) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;

// --- prepared-before-the-module-runs
// The backward pass is prepared with the input, before the module has run.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    if (sync_) prepare_for_backward(x);
    return run_module(x);

// --- sync-ignored
// Every pass averages, also within no_sync.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    prepare_for_forward();
    Tensor output = run_module(x);
    prepare_for_backward(output);
    return output;

// --- updated-before-it-is-read
// `are_buffers_due_` is updated first, and then speaks about this pass.
    are_buffers_due_ = sync_;
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;
