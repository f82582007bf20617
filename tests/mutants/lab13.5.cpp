// --- buffers-left-out
// Only the parameters are copied.
    for (size_t i = 0; i < original.parameters().size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {mini::parallel::copy_between(g, device, home)};
                    });
    }

// --- buffers-not-counted
// The bytes of buffers are not counted.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        if (originals[i].requires_grad()) stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {mini::parallel::copy_between(g, device, home)};
                    });
    }

// --- copied-once
// Only the first call copies.
    for (size_t i = 0; i < originals.size(); ++i) {
        if (stats->bytes_replicated < 24) copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {mini::parallel::copy_between(g, device, home)};
                    });
    }

// --- copied-the-wrong-way
// The copy's values are written to the module.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(const_cast<Tensor&>(originals[i]), copies[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {mini::parallel::copy_between(g, device, home)};
                    });
    }

// --- copy-not-recorded
// Values are copied, but gradients stay in the copy.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
    }

// --- gradient-halved
// The copy's gradient is averaged with the module's own.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        Tensor half = mini::ops::clone(mini::parallel::copy_between(g, device, home));
                        mini::ops::mul_(half, 0.5f);
                        return {half};
                    });
    }

// --- gradient-stays-on-the-device
// The gradient is not copied to the module's device.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {g};
                    });
    }

// --- gradients-counted-in-forward
// Gradients are counted before there are any.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        stats->bytes_reduced += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        return {mini::parallel::copy_between(g, device, home)};
                    });
    }

// --- sent-the-wrong-way
// The gradient is copied from home to the device.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {mini::parallel::copy_between(g, home, device)};
                    });
    }
