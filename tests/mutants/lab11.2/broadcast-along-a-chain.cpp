// Each rank passes the data on to the next.
// region: libmini/distributed/collectives/tree_broadcast.cpp 1
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - 1), data);
    if (relative_rank + 1 < P) transport.send(rank_at(relative_rank + 1), data);
