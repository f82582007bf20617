// --- buffers-left-out
// Only the parameters are copied.
    for (size_t i = 0; i < original.parameters().size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, device, home)};
                    });
    }

// --- buffers-not-counted
// The bytes of buffers are not counted.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        if (originals[i].requires_grad()) stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, device, home)};
                    });
    }

// --- copied-once
// Only the first call copies.
    for (size_t i = 0; i < originals.size(); ++i) {
        if (stats->bytes_replicated < 24)
            copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, device, home)};
                    });
    }

// --- copied-the-wrong-way
// The copy's values are written to the module.
    for (size_t i = 0; i < originals.size(); ++i) {
        Tensor(originals[i]).set_data(copy_between(copies[i], device, home));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, device, home)};
                    });
    }

// --- copy-not-recorded
// Values are copied, but gradients stay in the copy.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
    }

// --- gradient-zero
// The copy sends zeros instead of its gradient.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {Tensor::zeros(g.shape(), g.dtype(), home)};
                    });
    }

// --- gradient-stays-on-the-device
// The gradient is not copied to the module's device.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {g};
                    });
    }

// --- gradients-counted-in-forward
// Gradients are counted before there are any.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        stats->bytes_reduced += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        return {copy_between(g, device, home)};
                    });
    }

// --- sent-the-wrong-way
// The gradient is copied from home to the device.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, home, device)};
                    });
    }

// --- storage-shared
// The copy shares the module's storage.
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, device, home)};
                    });
    }
