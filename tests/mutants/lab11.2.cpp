// --- barrier-around-the-ring
// P-1 rounds to the neighbour.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    for (int round = 1; round < P; ++round)
        transport.send_recv((rank + 1) % P, {}, (rank + P - 1) % P, {});

// --- barrier-by-partners
// Partners by bits: right for powers of two only.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    for (int bit = 1; bit < P; bit *= 2)
        if ((rank ^ bit) < P) transport.send_recv(rank ^ bit, {}, rank ^ bit, {});

// --- barrier-of-neighbours
// A rank hears from its two neighbours only.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    if (P > 1) transport.send_recv((rank + 1) % P, {}, (rank + P - 1) % P, {});
    if (P > 2) transport.send_recv((rank + P - 1) % P, {}, (rank + 1) % P, {});

// --- barrier-one-round-short
// The last round is left out.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    for (int distance = 1; 2 * distance < P; distance *= 2)
        transport.send_recv((rank + distance) % P, {}, (rank - distance + P) % P, {});

// --- broadcast-along-a-chain
// Each rank passes the data on to the next.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - 1), data);
    if (relative_rank + 1 < P) transport.send(rank_at(relative_rank + 1), data);

// --- broadcast-on-the-root-only
// Only the root calls the transport.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank == 0)
        for (bit /= 2; bit > 0; bit /= 2)
            if (relative_rank + bit < P) transport.send(rank_at(relative_rank + bit), data);

// --- broadcast-to-all-from-the-root
// The root sends to each rank itself.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    if (relative_rank != 0)
        transport.recv(rank_at(0), data);
    else
        for (int child = 1; child < P; ++child) transport.send(rank_at(child), data);

// --- child-beyond-the-last-rank
// A child that does not exist is counted modulo P.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - bit), data);
    for (bit /= 2; bit > 0; bit /= 2) transport.send(rank_at(relative_rank + bit), data);

// --- farthest-child-first
// The child with the largest branch, which is ready last, is waited for first.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    int parent = 1;
    while (parent < P && (relative_rank & parent) == 0) parent *= 2;
    for (int bit = parent / 2; bit > 0; bit /= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - parent), data.bytes);

// --- nearest-child-first
// The children that have no children of their own get the data first.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - bit), data);
    for (int low = 1; low < bit; low *= 2)
        if (relative_rank + low < P) transport.send(rank_at(relative_rank + low), data);

// --- reduce-always-adds
// The operation is a sum, whatever `op` is.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, ReduceOp::kSum);
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);

// --- reduce-divides
// The average is divided here, and by the caller once more.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);
    if (relative_rank == 0) finish_reduce(data, P, op);

// --- reduce-overwrites
// The last child's data overwrites the sum.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);

// --- root-is-rank-0
// The tree's root is rank 0, whatever `root` is.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    const int rank = transport.rank();
    int bit = 1;
    while (bit < P && (rank & bit) == 0) bit *= 2;
    if (rank != 0) transport.recv(rank - bit, data);
    for (bit /= 2; bit > 0; bit /= 2)
        if (rank + bit < P) transport.send(rank + bit, data);

// --- sent-before-combined
// The data goes to the parent before the children's has been added.
// region: libmini/distributed/collectives/tree_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    int parent = 1;
    while (parent < P && (relative_rank & parent) == 0) parent *= 2;
    if (relative_rank != 0) transport.send(rank_at(relative_rank - parent), data.bytes);
    for (int bit = 1; bit < parent; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
