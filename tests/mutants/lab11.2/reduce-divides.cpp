// The average is divided here, and by the caller once more.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);
    if (relative_rank == 0) finish_reduce(data, P, op);
