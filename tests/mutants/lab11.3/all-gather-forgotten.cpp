// Only one chunk is finished on each rank.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 2
