// The plain mean: the slowest rank does not count.
// region: libmini/extras/scaling/stragglers.cpp 1
for (const double time : sorted) mean += time / m;
