// A rank hears from its two neighbours only.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    if (P > 1) transport.send_recv((rank + 1) % P, {}, (rank + P - 1) % P, {});
    if (P > 2) transport.send_recv((rank + P - 1) % P, {}, (rank + 1) % P, {});
