// The error is computed and never used.
    Tensor buffer = bucket.buffer;
    ops::copy_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    return [error, sent = noted.sent, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, sent, -1.0f);
    };
