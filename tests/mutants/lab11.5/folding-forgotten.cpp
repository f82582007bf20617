// Ranks beyond a power of two are free.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = 0;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * (alpha + (P - 1) * n * beta);
        case Algorithm::kTree: return 2 * std::bit_width(ranks - 1) * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n / P * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return 2 * (rounds * alpha + (Q - 1.0) / Q * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }
