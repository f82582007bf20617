// The received chunks overwrite.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes);
