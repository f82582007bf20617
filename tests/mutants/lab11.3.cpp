// --- all-gather-forgotten
// Only one chunk is finished on each rank.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2

// --- chunks-not-combined
// The received chunks overwrite.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes);

// --- gathered-from-the-first-chunk
// The all-gather starts from chunk rank, which is finished on another rank.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes);

// --- gathered-on-the-way-back
// The finished chunks go round to the left, not as in the table.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(left, chunk(rank + 1 + step).bytes, right,
                            chunk(rank + 2 + step).bytes);

// --- gathered-sums-added
// The finished chunks are added to the partial sums.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    const Combine add = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank + 1 - step).bytes, left,
                            chunk(rank - step).bytes, add);

// --- one-step-too-few
// P-2 steps: each chunk lacks one rank's numbers.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 2; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes, combine);

// --- prepared-again
// The data are prepared a second time: an average of float16 is too small.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    prepare_reduce(data, P, op);
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes, combine);
    finish_reduce(chunk(rank + 1), P, op);

// --- send-before-recv
// A blocking send, then a receive: each rank waits for its right neighbour.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    for (int step = 0; step < P - 1; ++step) {
        transport.send(right, chunk(rank + 1 - step).bytes);
        transport.recv(left, chunk(rank - step).bytes);
    }

// --- sends-its-own-chunk-again
// Every step sends the rank's own first chunk.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank).bytes, left,
                            chunk(rank - step - 1).bytes, combine);

// --- tutorials-ring
// The tutorial's ring: whole buffers go around, and each rank adds in its own order.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    std::vector<std::byte> outgoing(data.bytes.begin(), data.bytes.end());
    std::vector<std::byte> incoming(outgoing.size());
    for (int step = 0; step < P - 1; ++step) {
        transport.send_recv(right, outgoing, left, incoming);
        combine.apply(data.bytes.data(), incoming.data(), data.size());
        outgoing.swap(incoming);
    }

// --- whole-buffers
// Each step sends all that this rank has added up so far: no chunks, and the wrong sum.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    std::vector<std::byte> outgoing(data.bytes.begin(), data.bytes.end());
    for (int step = 0; step < P - 1; ++step) {
        transport.send_recv(right, outgoing, left, data.bytes, combine);
        outgoing.assign(data.bytes.begin(), data.bytes.end());
    }
