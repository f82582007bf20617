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
