// A fixed size decides, whatever the link is.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    return bytes <= 16384 ? Algorithm::kRecursiveDoubling : Algorithm::kRing;
