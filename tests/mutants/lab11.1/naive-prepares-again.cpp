// The data are prepared a second time: an average of float16 is too small.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    prepare_reduce(data, P, op);
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
    finish_reduce(data, P, op);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
