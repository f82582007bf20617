// The last child's data overwrites the sum.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);
