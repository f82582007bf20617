// Values are copied, but gradients stay in the copy.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
    }
