// The copy is not recorded, so backward ends at the chunk.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return copy_between(x, from, to);
