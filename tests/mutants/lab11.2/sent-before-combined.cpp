// The data goes to the parent before the children's has been added.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    int parent = 1;
    while (parent < P && (relative_rank & parent) == 0) parent *= 2;
    if (relative_rank != 0) transport.send(rank_at(relative_rank - parent), data.bytes);
    for (int bit = 1; bit < parent; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
