// The children that have no children of their own get the data first.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - bit), data);
    for (int low = 1; low < bit; low *= 2)
        if (relative_rank + low < P) transport.send(rank_at(relative_rank + low), data);
