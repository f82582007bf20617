// The root sends to each rank itself.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    if (relative_rank != 0)
        transport.recv(rank_at(0), data);
    else
        for (int child = 1; child < P; ++child) transport.send(rank_at(child), data);
