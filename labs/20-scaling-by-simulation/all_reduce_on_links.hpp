// The time of an all-reduce on links that differ: hosts with several ranks, slow ranks.
//
// The formulas of all_reduce_time.hpp assume that all links are equal. Two ways lead on:
//
//     hierarchical, tree    parts on equal links, one after the other: their times add up
//
//         inside a host     |  between the hosts  |  inside a host
//         reduce to leader  |  leaders all-reduce |  broadcast
//
//     ring                  all links at once: each rank waits for its left neighbour, so
//                           times of ranks follow from each other, step by step
//
//         when rank r begins step s+1 = the later of
//             its own message has left               begin(r, s) + bytes / rate
//             its left neighbour's has arrived       begin(r-1, s) + bytes / rate + delay

#pragma once

#include <cstddef>

#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::lab20 {

/// Returns the time of an all-reduce of `bytes` bytes on P ranks with equal links, in
/// seconds: dist::all_reduce_seconds() with the link's delay and rate.
double seconds_on(const dist::LinkSpec& link, dist::Algorithm algorithm, int P,
                  size_t bytes);

/// Returns the time of a ring all-reduce of `bytes` bytes, a multiple of 4, on P ranks,
/// in seconds, until the last rank is done. Exact for the simulated cluster. 2 (P-1) P
/// steps of work, and no messages. REQUIRES: P >= 1.
double ring_seconds(const dist::Links& links, int P, size_t bytes);

/// Returns the time of a tree's or a hierarchical all-reduce, in seconds: the tree inside
/// a host, of rounds of the whole buffer, and between the hosts a tree or a ring of their
/// first ranks. An upper bound if a tree has a number of hosts, or of ranks in a host,
/// that is no power of two: log2 is rounded up. REQUIRES: no slow ranks (Links::rates is
/// empty); for kTree, the number of ranks per host is a power of two.
double hosts_seconds(dist::Algorithm algorithm, const dist::Links& links, int P,
                     size_t bytes);

/// Returns the time of an all-reduce: on any links for kRing, without slow ranks for
/// kTree and kHierarchical, on equal links for the other algorithms that
/// dist::all_reduce_seconds() knows. Throws UsageError for other links.
double all_reduce_seconds_on(const dist::Links& links, dist::Algorithm algorithm, int P,
                             size_t bytes);

}  // namespace mini::lab20
