// `sent` is the buffer itself and not a copy.
    Tensor buffer = bucket.buffer;
    ops::add_(buffer, error);
    ops::copy_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = buffer;
    return [error, sent = noted.sent, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, sent, -1.0f);
    };
