// The error is the sum minus the average, as in PyTorch's PowerSGD.
    Tensor buffer = bucket.buffer;
    ops::add_(buffer, error);
    ops::copy_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    return [error, buffer, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, buffer, -1.0f);
    };
