// The finished chunks are added to the partial sums.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    const Combine add = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank + 1 - step).bytes, left,
                            chunk(rank - step).bytes, add);
