// The time of an all-reduce of n bytes on P ranks in the alpha-beta model (Hockney, "The
// communication challenge for MPP", 1994). A message of m bytes takes alpha + m beta; a
// rank can send one message and receive another at the same time. The delays of messages
// that do not wait for each other overlap: rank 0 of the naive algorithm pays alpha once
// for all P-1 messages that it receives, and once for all that it sends.
//
//     naive                 2 (alpha + (P-1) n beta)        all bytes cross rank 0's link
//     tree                  2 log2 P (alpha + n beta)
//     ring                  2 (P-1) (alpha + n/P beta)
//     recursive doubling    log2 P (alpha + n beta)
//     halving-doubling      2 log2 P alpha + 2 (P-1)/P n beta
//
// For small buffers the number of rounds decides, for large buffers the number of bytes:
// see choose_algorithm (backends/transport_backend.hpp).

#pragma once

#include <array>
#include <cstddef>

#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

/// The algorithms that all_reduce_seconds() supports.
inline constexpr std::array kAlgorithmsWithFormula = {
    Algorithm::kNaive, Algorithm::kTree, Algorithm::kRing, Algorithm::kRecursiveDoubling,
    Algorithm::kHalvingDoubling};

/// Returns the time by the formula above, in seconds; 0 if P is 1, for any `algorithm`.
/// `alpha` is in seconds, `beta` in seconds per byte. If P is not a power of two, log2 P
/// is rounded up for kTree; kRecursiveDoubling and kHalvingDoubling take the time for the
/// next lower power of two, plus two messages of the whole buffer (fold.hpp). If P > 1,
/// throws Error for kAuto, kHierarchical and kSharedMemory. REQUIRES: P >= 1.
double all_reduce_seconds(Algorithm algorithm, int P, size_t bytes, double alpha,
                          double beta);

/// Returns the algorithm of kAlgorithmsWithFormula with the smallest
/// all_reduce_seconds(); if several are equal, the first of them. REQUIRES: P >= 1.
Algorithm fastest_all_reduce(int P, size_t bytes, double alpha, double beta);

}  // namespace mini::dist
