// P-1 rounds to the neighbour.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    for (int round = 1; round < P; ++round)
        transport.send_recv((rank + 1) % P, {}, (rank + P - 1) % P, {});
