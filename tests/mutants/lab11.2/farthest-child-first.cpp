// The child with the largest branch, which is ready last, is waited for first.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    int parent = 1;
    while (parent < P && (relative_rank & parent) == 0) parent *= 2;
    for (int bit = parent / 2; bit > 0; bit /= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - parent), data.bytes);
