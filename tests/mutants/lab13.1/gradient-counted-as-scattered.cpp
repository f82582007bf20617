// The gradient is counted with what backward of gather scatters.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to, stats](const Tensor& g, const Node&) -> Grads {
                      stats->bytes_scattered += moved_bytes(g, to, from);
                      return {copy_between(g, to, from)};
                  });
