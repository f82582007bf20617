// A child that does not exist is counted modulo P.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - bit), data);
    for (bit /= 2; bit > 0; bit /= 2) transport.send(rank_at(relative_rank + bit), data);
