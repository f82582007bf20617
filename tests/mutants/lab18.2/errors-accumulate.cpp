// The sum is added to the old error, which is in the sum already.
    Tensor buffer = bucket.buffer;
    ops::add_(buffer, error);
    ops::add_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    return [error, sent = noted.sent, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, sent, -1.0f);
    };
