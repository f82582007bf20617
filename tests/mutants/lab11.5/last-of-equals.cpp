// Of equal times the last one is chosen.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    Algorithm fastest = kAlgorithmsWithFormula.front();
    for (const Algorithm algorithm : kAlgorithmsWithFormula)
        if (all_reduce_seconds(algorithm, P, bytes, alpha, beta) <=
            all_reduce_seconds(fastest, P, bytes, alpha, beta))
            fastest = algorithm;
    return fastest;
