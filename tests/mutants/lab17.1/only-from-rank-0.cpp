// Only rank 0's fingerprint is compared.
// region: libmini/distributed/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
    if (rank() != 0) history.check_same(rank(), 0, received_[0].collective);
