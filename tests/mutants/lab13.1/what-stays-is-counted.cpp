// A chunk that stays on its device is counted too.
// region: libmini/parallel/scatter_gather.cpp 1
    stats->bytes_scattered += static_cast<int64_t>(x.bytes());
    if (from == to) return x;
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to, stats](const Tensor& g, const Node&) -> Grads {
                      stats->bytes_gathered += moved_bytes(g, to, from);
                      return {copy_between(g, to, from)};
                  });
