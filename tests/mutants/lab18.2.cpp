// --- error-against-the-average
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

// --- error-before-the-end
// The error is computed before the hook has finished.
    Tensor buffer = bucket.buffer;
    ops::add_(buffer, error);
    ops::copy_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    auto finish = hook(noted, group);
    ops::add_(error, noted.sent, -1.0f);
    return finish;

// --- error-never-added
// The error is computed and never used.
    Tensor buffer = bucket.buffer;
    ops::copy_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    return [error, sent = noted.sent, finish = hook(noted, group)]() mutable {
        finish();
        ops::add_(error, sent, -1.0f);
    };

// --- error-of-the-gradient-alone
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

// --- errors-accumulate
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

// --- finished-at-once
// The wrapper finishes the hook before it returns.
    Tensor buffer = bucket.buffer;
    ops::add_(buffer, error);
    ops::copy_(error, buffer);
    GradBucket noted = bucket;
    noted.sent = ops::clone(buffer);
    hook(noted, group)();
    ops::add_(error, noted.sent, -1.0f);
    return [] {};

// --- sent-before-the-error
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

// --- sent-is-the-buffer
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
