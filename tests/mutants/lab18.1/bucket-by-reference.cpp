// The bucket is captured by reference, and has ended when the function is called.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    Tensor small = ops::to(buffer, dtype);
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
        ops::mul_(sent, static_cast<float>(group.world_size()));
    }
    return [&bucket, small, work = group.all_reduce_async(small)] {
        work->wait();
        Tensor all = bucket.buffer;
        ops::copy_(all, ops::to(small, all.dtype()));
    };
