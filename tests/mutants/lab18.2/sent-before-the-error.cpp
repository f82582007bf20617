// `sent` is a copy of the gradients without the error.
    Tensor buffer = bucket.buffer;
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    ops::add_(buffer, error);
    ops::copy_(error, buffer);
    return [error, sent = noted.sent, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, sent, -1.0f);
    };
