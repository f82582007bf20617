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
