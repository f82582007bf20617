// P-2 steps: each chunk lacks one rank's numbers.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 2; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes, combine);
