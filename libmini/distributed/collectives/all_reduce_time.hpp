// What an all-reduce of n bytes on P ranks takes in the alpha-beta model: a message of m bytes
// takes alpha + m beta, and a rank sends one and receives one at a time (Hockney, "The
// communication challenge for MPP", 1994). Messages that do not wait for each other share the
// link's rate, but not the delay: rank 0 of the naive one pays alpha once in each direction.
//
//     naive                 2 (alpha + (P-1) n beta)              rank 0's link carries all
//     tree                  2 log2 P (alpha + n beta)
//     ring                  2 (P-1) (alpha + n/P beta)
//     recursive doubling    log2 P (alpha + n beta)
//     halving-doubling      2 log2 P alpha + 2 (P-1)/P n beta
//
// Small buffers want few rounds, large ones few bytes: hence choose_algorithm.

#pragma once

#include <array>
#include <cstddef>

#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

/// The algorithms that all_reduce_seconds() takes.
inline constexpr std::array kAlgorithmsWithFormula = {
    Algorithm::kNaive, Algorithm::kTree, Algorithm::kRing, Algorithm::kRecursiveDoubling,
    Algorithm::kHalvingDoubling};

/// The seconds by the formula above; `alpha` is in seconds, `beta` in seconds a byte. For P that
/// is not a power of two, log2 P is rounded up in a tree; recursive doubling and halving-doubling
/// take as long as the next lower power of two, and two messages of the whole buffer more
/// (fold.hpp). 0 for one rank. Throws Error for kAuto and kHierarchical. REQUIRES: P >= 1.
double all_reduce_seconds(Algorithm algorithm, int P, size_t bytes, double alpha,
                          double beta);

/// Returns that of kAlgorithmsWithFormula with the smallest all_reduce_seconds; the first of
/// several. REQUIRES: P >= 1.
Algorithm fastest_all_reduce(int P, size_t bytes, double alpha, double beta);

}  // namespace mini::dist
