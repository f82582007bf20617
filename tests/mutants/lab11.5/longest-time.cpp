// The slowest is chosen.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    Algorithm slowest = kAlgorithmsWithFormula.front();
    for (const Algorithm algorithm : kAlgorithmsWithFormula)
        if (all_reduce_seconds(algorithm, P, bytes, alpha, beta) >
            all_reduce_seconds(slowest, P, bytes, alpha, beta))
            slowest = algorithm;
    return slowest;
