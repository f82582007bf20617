#include "labs/11-collectives/all_reduce_time.hpp"

#include <bit>

#include "libmini/core/error.hpp"

// [lab11 file]
namespace mini::dist {

double all_reduce_seconds(Algorithm algorithm, int P, size_t bytes, double alpha,
                          double beta) {
    if (P == 1) return 0;
    const auto n = static_cast<double>(bytes);
    const double whole = alpha + n * beta;
    const auto ranks = static_cast<unsigned>(P);
    const unsigned Q = std::bit_floor(ranks);

    // [lab11.5] Count the rounds of each algorithm, and what each of them takes.
    const double rounds = std::bit_width(Q) - 1;
    const double folding = Q == ranks ? 0 : 2 * whole;
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
    // [lab11.5]
    throw Error("there is no formula for ", algorithm_name(algorithm));
}

Algorithm fastest_all_reduce(int P, size_t bytes, double alpha, double beta) {
    // [lab11.5] Return the algorithm with the shortest time, the first if several have it.
    Algorithm fastest = kAlgorithmsWithFormula.front();
    double shortest = all_reduce_seconds(fastest, P, bytes, alpha, beta);
    for (const Algorithm algorithm : kAlgorithmsWithFormula) {
        const double seconds = all_reduce_seconds(algorithm, P, bytes, alpha, beta);
        if (seconds < shortest) {
            fastest = algorithm;
            shortest = seconds;
        }
    }
    return fastest;
    // [lab11.5]
}

}  // namespace mini::dist
// [lab11 file]
