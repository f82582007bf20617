// The all-gather starts from chunk rank, which is finished on another rank.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes);
