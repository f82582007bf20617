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
