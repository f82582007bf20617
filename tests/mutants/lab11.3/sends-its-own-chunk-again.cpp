// Every step sends the rank's own first chunk.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank).bytes, left,
                            chunk(rank - step - 1).bytes, combine);
