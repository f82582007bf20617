// The plain mean: the slowest rank does not count.
// region: libmini/scaling/stragglers.cpp 1
    for (const double time : sorted) mean += time / m;
