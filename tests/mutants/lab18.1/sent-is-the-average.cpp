// `sent` is written at the end, from the average.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    Tensor small = ops::to(buffer, dtype);
    return [buffer, small, sent = bucket.sent,
            work = group.all_reduce_async(small)]() mutable {
        work->wait();
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
        if (sent.defined()) ops::copy_(sent, buffer);
    };
