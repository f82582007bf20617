// Each rank is answered as soon as its own buffer has been added.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) {
        transport.recv(rank, data.bytes, combine);
        transport.send(rank, data.bytes);
    }
    finish_reduce(data, P, op);
