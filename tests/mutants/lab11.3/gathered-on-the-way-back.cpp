// The finished chunks go round to the left, not as in the table.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(left, chunk(rank + 1 + step).bytes, right,
                            chunk(rank + 2 + step).bytes);
