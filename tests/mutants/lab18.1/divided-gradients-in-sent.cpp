// The hook without compression notes its divided gradients in `sent`.
// region: libmini/parallel/comm_hooks.cpp 2
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, buffer);
    return [work = group.all_reduce_async(buffer)] { work->wait(); };
