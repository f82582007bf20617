// --- fixed-limit
// A fixed size decides, whatever the link is.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    return bytes <= 16384 ? Algorithm::kRecursiveDoubling : Algorithm::kRing;

// --- fold-by-one-message
// The result is not sent back to the folded ranks.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : whole;
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

// --- folding-forgotten
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

// --- halving-for-all-ranks
// Halving divides by P, not by Q.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * (alpha + (P - 1) * n * beta);
        case Algorithm::kTree: return 2 * std::bit_width(ranks - 1) * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n / P * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return 2 * (rounds * alpha + (P - 1.0) / P * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }

// --- halving-without-doubling
// The finished halves do not go back.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * (alpha + (P - 1) * n * beta);
        case Algorithm::kTree: return 2 * std::bit_width(ranks - 1) * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n / P * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return (rounds * alpha + (Q - 1.0) / Q * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }

// --- last-of-equals
// Of equal times the last one is chosen.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    Algorithm fastest = kAlgorithmsWithFormula.front();
    for (const Algorithm algorithm : kAlgorithmsWithFormula)
        if (all_reduce_seconds(algorithm, P, bytes, alpha, beta) <=
            all_reduce_seconds(fastest, P, bytes, alpha, beta))
            fastest = algorithm;
    return fastest;

// --- longest-time
// The slowest is chosen.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    Algorithm slowest = kAlgorithmsWithFormula.front();
    for (const Algorithm algorithm : kAlgorithmsWithFormula)
        if (all_reduce_seconds(algorithm, P, bytes, alpha, beta) >
            all_reduce_seconds(slowest, P, bytes, alpha, beta))
            slowest = algorithm;
    return slowest;

// --- naive-in-parallel
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

// --- ring-of-whole-buffers
// The ring sends whole buffers.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * (alpha + (P - 1) * n * beta);
        case Algorithm::kTree: return 2 * std::bit_width(ranks - 1) * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return 2 * (rounds * alpha + (Q - 1.0) / Q * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }

// --- shortest-never-updated
// Each algorithm is compared with the first one.
// region: libmini/distributed/collectives/all_reduce_time.cpp 2
    Algorithm fastest = kAlgorithmsWithFormula.front();
    const double shortest = all_reduce_seconds(fastest, P, bytes, alpha, beta);
    for (const Algorithm algorithm : kAlgorithmsWithFormula)
        if (all_reduce_seconds(algorithm, P, bytes, alpha, beta) < shortest)
            fastest = algorithm;
    return fastest;

// --- tree-in-one-direction
// The result never goes down the tree.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * (alpha + (P - 1) * n * beta);
        case Algorithm::kTree: return std::bit_width(ranks - 1) * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n / P * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return 2 * (rounds * alpha + (Q - 1.0) / Q * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }

// --- tree-rounded-down
// The tree's rounds are those of the next lower power of two.
// region: libmini/distributed/collectives/all_reduce_time.cpp 1
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
    switch (algorithm) {
        case Algorithm::kNaive: return 2 * (alpha + (P - 1) * n * beta);
        case Algorithm::kTree: return 2 * rounds * whole;
        case Algorithm::kRing: return 2 * (P - 1) * (alpha + n / P * beta);
        case Algorithm::kRecursiveDoubling: return rounds * whole + folding;
        case Algorithm::kHalvingDoubling:
            return 2 * (rounds * alpha + (Q - 1.0) / Q * n * beta) + folding;
        case Algorithm::kAuto:
        case Algorithm::kHierarchical:
        case Algorithm::kSharedMemory: break;
    }
