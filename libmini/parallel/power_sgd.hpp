// PowerSGD: gradients travel as products of thin matrices.
//
//     M (n, m)  ~  P (n, r)  Qt (r, m)         n m numbers become r (n + m)
//
//     1. P = M Q, summed over the ranks, columns made orthonormal
//     2. Q = Mt P, averaged over the ranks
//     3. M becomes P Qt on every rank; the difference is kept and added to the next
//        gradient (error feedback), and Q is where the next step starts (warm start)
//
// One step of the power method a step of training: since gradients change slowly, the
// approximation gets better as training goes on. Biases and other small tensors travel
// whole.
//
// Vogels, Karimireddy, Jaggi 2019, PowerSGD: Practical Low-Rank Gradient Compression for
// Distributed Optimization.

#pragma once

#include <cstdint>

#include "libmini/parallel/comm_hooks.hpp"

namespace mini::parallel {

/// As in `powerSGD_hook.PowerSGDState`.
struct PowerSGDOptions {
    int64_t matrix_approximation_rank = 1;  // r
    int64_t start_iteration = 1000;         // before it, plain all-reduce
    double min_compression_rate = 2.0;      // compress where n m > this * r (n + m)
    bool use_error_feedback = true;
    bool warm_start = true;
    double orthogonalization_epsilon = 0.0;
    uint64_t random_seed = 0;  // of the first Q; the same on all ranks
};

/// The hook (`powerSGD_hook`). Its first all-reduces overlap with the backward pass, those
/// of Q come at its end. Throws UsageError for a rank below 1, and for a start_iteration
/// below 2 with error feedback or warm start: buckets change before the second iteration.
CommHook power_sgd_hook(const PowerSGDOptions& options = {});

}  // namespace mini::parallel
