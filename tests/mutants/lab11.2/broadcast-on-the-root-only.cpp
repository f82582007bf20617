// Only the root calls the transport.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank == 0)
        for (bit /= 2; bit > 0; bit /= 2)
            if (relative_rank + bit < P) transport.send(rank_at(relative_rank + bit), data);
