// The gradient is not sent back, and not counted.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", copy_between(x, from, to), {x},
                  [](const Tensor& g, const Node&) -> Grads { return {g}; });
