// `sent` is the quotient that was rounded, not the gradient.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    Tensor small = ops::to(buffer, dtype);
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
    }
    return [buffer, small, work = group.all_reduce_async(small)]() mutable {
        work->wait();
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
    };
