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
