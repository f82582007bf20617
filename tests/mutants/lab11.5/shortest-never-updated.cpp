// Each algorithm is compared with the first one.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    Algorithm fastest = kAlgorithmsWithFormula.front();
    const double shortest = all_reduce_seconds(fastest, P, bytes, alpha, beta);
    for (const Algorithm algorithm : kAlgorithmsWithFormula)
        if (all_reduce_seconds(algorithm, P, bytes, alpha, beta) < shortest)
            fastest = algorithm;
    return fastest;
