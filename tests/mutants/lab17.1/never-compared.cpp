// The fingerprints are exchanged, and not compared.
// region: libmini/distributed/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
