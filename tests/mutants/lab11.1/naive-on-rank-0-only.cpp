// Only rank 0 takes part.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() == 0) {
        const Combine combine = combine_for(data.dtype, op);
        for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
        finish_reduce(data, P, op);
        for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
    }
