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
