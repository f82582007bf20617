// --- a-view-for-all
// No chunk is copied: all are views of the batch.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", x, {x}, [from, to, stats](const Tensor& g, const Node&) -> Grads {
        stats->bytes_gathered += moved_bytes(g, to, from);
        return {copy_between(g, to, from)};
    });

// --- copy-not-recorded
// The copy is not recorded, so backward ends at the chunk.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return copy_between(x, from, to);

// --- empty-chunks-kept
// A device without rows gets an empty chunk.
// region: libmini/parallel/scatter_gather.cpp 2
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < chunks; ++i)
        sizes.push_back(std::clamp<int64_t>(size - i * most, 0, most));
    return sizes;

// --- evenly-dealt
// The chunks differ by one row at most, as those of tensor_split.
// region: libmini/parallel/scatter_gather.cpp 2
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < chunks; ++i) {
        const int64_t rows = size / chunks + (i < size % chunks ? 1 : 0);
        if (rows > 0 || size == 0) sizes.push_back(rows);
    }
    return sizes;

// --- first-rows-for-all
// Every chunk begins at the first row.
// region: libmini/parallel/scatter_gather.cpp 3
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
    }
    return chunks;

// --- gradient-counted-as-scattered
// The gradient is counted with what backward of gather scatters.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to, stats](const Tensor& g, const Node&) -> Grads {
                      stats->bytes_scattered += moved_bytes(g, to, from);
                      return {copy_between(g, to, from)};
                  });

// --- gradient-counted-in-forward
// Forward counts the gradient that backward may send.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    stats->bytes_gathered += moved_bytes(x, to, from);
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to](const Tensor& g, const Node&) -> Grads {
                      return {copy_between(g, to, from)};
                  });

// --- gradient-not-sent-back
// The gradient is not sent back, and not counted.
// region: libmini/parallel/scatter_gather.cpp 1
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", copy_between(x, from, to), {x},
                  [](const Tensor& g, const Node&) -> Grads { return {g}; });

// --- home-is-the-first-device
// The batch is thought to be on the first device.
// region: libmini/parallel/scatter_gather.cpp 3
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, devices[0], devices[chunks.size()], stats));
        start += rows;
    }
    return chunks;

// --- last-chunk-as-long
// The last chunk is as long as the others, beyond the end of the batch.
// region: libmini/parallel/scatter_gather.cpp 2
    if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size; start += most) sizes.push_back(most);
    return sizes;

// --- nothing-is-no-chunk
// A batch without rows has no chunk at all.
// region: libmini/parallel/scatter_gather.cpp 2
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size; start += most)
        sizes.push_back(std::min(most, size - start));
    return sizes;

// --- one-row-on
// The next chunk begins one row further on, not one chunk.
// region: libmini/parallel/scatter_gather.cpp 3
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
        ++start;
    }
    return chunks;

// --- rounded-down
// The quotient is rounded down, and the last chunk has all that is left.
// region: libmini/parallel/scatter_gather.cpp 2
    if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
    const int64_t least = std::max<int64_t>(size / chunks, 1);
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size && std::ssize(sizes) < chunks; start += least)
        sizes.push_back(least);
    if (size > least * chunks) sizes.back() += size - least * chunks;
    return sizes;

// --- view-without-graph
// The rows are cut by ops::narrow, which records nothing.
// region: libmini/parallel/scatter_gather.cpp 3
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = ops::narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
        start += rows;
    }
    return chunks;

// --- what-stays-is-counted
// A chunk that stays on its device is counted too.
// region: libmini/parallel/scatter_gather.cpp 1
    stats->bytes_scattered += static_cast<int64_t>(x.bytes());
    if (from == to) return x;
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to, stats](const Tensor& g, const Node&) -> Grads {
                      stats->bytes_gathered += moved_bytes(g, to, from);
                      return {copy_between(g, to, from)};
                  });
