// Each step sends all that this rank has added up so far: no chunks, and the wrong sum.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    std::vector<std::byte> outgoing(data.bytes.begin(), data.bytes.end());
    for (int step = 0; step < P - 1; ++step) {
        transport.send_recv(right, outgoing, left, data.bytes, combine);
        outgoing.assign(data.bytes.begin(), data.bytes.end());
    }
