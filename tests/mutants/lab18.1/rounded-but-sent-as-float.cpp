// The gradients are rounded and converted back before they are sent.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    Tensor small = ops::to(ops::to(buffer, dtype), buffer.dtype());
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
        ops::mul_(sent, static_cast<float>(group.world_size()));
    }
    return [buffer, small, work = group.all_reduce_async(small)]() mutable {
        work->wait();
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
    };
