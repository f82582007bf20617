// No chunk is copied: all are views of the batch.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", x, {x}, [from, to, stats](const Tensor& g, const Node&) -> Grads {
        stats->bytes_gathered += moved_bytes(g, to, from);
        return {copy_between(g, to, from)};
    });
