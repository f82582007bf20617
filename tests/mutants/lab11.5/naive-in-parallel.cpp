// Rank 0 receives all buffers at once.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * whole;
        case Algorithm::kTree: return 2 * std::bit_width(ranks - 1) * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n / P * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return 2 * (rounds * alpha + (Q - 1.0) / Q * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }
