// --- always-bfloat16
// Both hooks send bfloat16.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    Tensor small = ops::to(buffer, DType::kBFloat16);
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
        ops::mul_(sent, static_cast<float>(group.world_size()));
    }
    return [buffer, small, work = group.all_reduce_async(small)]() mutable {
        work->wait();
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
    };

// --- bucket-by-reference
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

// --- divided-after-the-sum
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

// --- divided-gradients-in-sent
// The hook without compression notes its divided gradients in `sent`.
// region: libmini/parallel/comm_hooks.cpp 2
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, buffer);
    return [work = group.all_reduce_async(buffer)] { work->wait(); };

// --- never-divided
// The hook leaves the sum: it takes the gradients for divided ones.
// region: libmini/parallel/comm_hooks.cpp 2
    return [work = group.all_reduce_async(bucket.buffer)] { work->wait(); };

// --- rounded-before-the-division
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

// --- rounded-but-sent-as-float
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

// --- sent-is-the-average
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

// --- sent-is-the-quotient
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

// --- waits-at-once
// The hook waits for the sum itself, so that nothing is hidden.
// region: libmini/parallel/comm_hooks.cpp 1
    Tensor buffer = bucket.buffer;
    ops::mul_(buffer, share_of(group));
    Tensor small = ops::to(buffer, dtype);
    if (Tensor sent = bucket.sent; sent.defined()) {
        ops::copy_(sent, ops::to(small, sent.dtype()));
        ops::mul_(sent, static_cast<float>(group.world_size()));
    }
    return [buffer, small, done = (group.all_reduce(small), 0)]() mutable {
        static_cast<void>(done);
        ops::copy_(buffer, ops::to(small, buffer.dtype()));
    };
