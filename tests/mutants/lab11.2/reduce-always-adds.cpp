// The operation is a sum, whatever `op` is.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, ReduceOp::kSum);
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);
