// Stragglers: a synchronous step is as long as the step of its slowest rank.
//
//     rank 0    [ 10 ms ]...........|        A rank is slow now and then. On more ranks
//     rank 1    [ 10 ms ]...........|        there is more often one that is slow, so the
//     rank 2    [ 20 ms            ]|        mean of the maximum grows with P.
//
// Let x_1 <= ... <= x_m be measured times, and let each rank draw its time from them, all
// m equally likely, independently of the others. The maximum of n draws is at most x_i if
// all draws are: with probability (i/m)^n.
//
// Backup workers (Chen et al., "Revisiting Distributed Synchronous SGD", 2016) start n
// ranks and wait for the fastest k only: the k-th smallest of n draws. It is at most x_i
// if k draws or more are.

#pragma once

#include <span>

namespace mini::lab20 {

/// Returns the expected maximum of n draws from `times`. The times may be in any order.
/// Throws UsageError if `times` is empty. REQUIRES: n >= 1.
double expected_maximum(std::span<const double> times, int n);

/// Returns the probability that at least k of n independent events occur, each of which
/// has probability p. REQUIRES: 1 <= k <= n; 0 <= p <= 1. Exact to 1e-9 up to n = 4096:
/// the binomial coefficients, which have up to 1,200 digits there, are computed as
/// logarithms.
double at_least(int k, int n, double p);

/// Returns the expected k-th smallest of n draws from `times`; equals expected_maximum if
/// k is n. Throws UsageError if `times` is empty. REQUIRES: 1 <= k <= n.
double expected_kth(std::span<const double> times, int k, int n);

}  // namespace mini::lab20
