// A blocking send, then a receive: each rank waits for its right neighbour.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
    for (int step = 0; step < P - 1; ++step) {
        transport.send(right, chunk(rank + 1 - step).bytes);
        transport.recv(left, chunk(rank - step).bytes);
    }
