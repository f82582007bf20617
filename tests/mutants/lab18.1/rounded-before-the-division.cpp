// The gradients are rounded, then divided, as in PyTorch: 100000 becomes infinite.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    Tensor small = ops::to(ops::to(buffer, dtype), buffer.dtype());
    ops::mul_(small, share_of(group));
    small = ops::to(small, dtype);
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
        ops::mul_(sent, static_cast<float>(group.world_size()));
    }
    return [buffer, small, work = group.all_reduce_async(small)]() mutable {
        work->wait();
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
    };
