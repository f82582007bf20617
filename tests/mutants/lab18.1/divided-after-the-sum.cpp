// The sum is divided when it is back, so float16 overflows.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    Tensor small = ops::to(buffer, dtype);
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
    }
    return [buffer, small, share = share_of(group),
            work = group.all_reduce_async(small)]() mutable {
        work->wait();
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
        ops::mul_(buffer, share);
    };
