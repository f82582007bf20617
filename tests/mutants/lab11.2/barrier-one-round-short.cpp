// The last round is left out.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    for (int distance = 1; 2 * distance < P; distance *= 2)
        transport.send_recv((rank + distance) % P, {}, (rank - distance + P) % P, {});
