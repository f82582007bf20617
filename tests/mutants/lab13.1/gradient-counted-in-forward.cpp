// Forward counts the gradient that backward may send.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    stats->bytes_gathered += moved_bytes(x, to, from);
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to](const Tensor& g, const Node&) -> Grads {
                      return {copy_between(g, to, from)};
                  });
