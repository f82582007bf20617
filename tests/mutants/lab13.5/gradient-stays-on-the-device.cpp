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
