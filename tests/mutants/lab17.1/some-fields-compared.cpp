// Only the operation, the dtype and the count are compared.
// region: libmini/distributed/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
    each_peer([&](int peer, size_t i) {
        const Collective& theirs = received_[i].collective;
        if (theirs.operation != collective.operation || theirs.count != collective.count ||
            theirs.dtype != collective.dtype)
            history.check_same(rank(), peer, theirs);
    });
