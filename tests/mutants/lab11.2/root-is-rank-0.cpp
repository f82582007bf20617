// The tree's root is rank 0, whatever `root` is.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    const int rank = transport.rank();
    int bit = 1;
    while (bit < P && (rank & bit) == 0) bit *= 2;
    if (rank != 0) transport.recv(rank - bit, data);
    for (bit /= 2; bit > 0; bit /= 2)
        if (rank + bit < P) transport.send(rank + bit, data);
