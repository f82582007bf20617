// The error forgets what was not sent in earlier steps.
    Tensor buffer = bucket.buffer;
    const Tensor own = ops::clone(buffer);
    ops::add_(buffer, error);
    ops::copy_(error, own);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    return [error, sent = noted.sent, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, sent, -1.0f);
    };
