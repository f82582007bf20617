// Rank 0 receives the buffers into its own, without combining them.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes);
    finish_reduce(data, P, op);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
