// Every rank divides what rank 0 has already divided.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
    } else {
        for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
        finish_reduce(data, P, op);
        for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
    }
    if (transport.rank() != 0) finish_reduce(data, P, op);
