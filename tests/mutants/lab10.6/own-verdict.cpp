// Each rank believes its own verdict.
// region: libmini/distributed/rendezvous/agreement.cpp 1
    store.compare_set(kVerdict, "", verdict);
    return verdict;
