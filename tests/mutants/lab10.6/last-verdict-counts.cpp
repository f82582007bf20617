// The last verdict counts, although others have read the first.
// region: libmini/distributed/rendezvous/agreement.cpp 1
    store.set(kVerdict, verdict);
    return verdict;
