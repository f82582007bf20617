// PowerSGD: compresses gradients into products of thin matrices.
//
//     M (n, m)  ~  P (n, r)  Qt (r, m)         n m numbers become r (n + m)
//
//     1. P = M Q, with orthonormal columns of Q; summed over the ranks, and P's columns
//        made orthonormal
//     2. Q = Mt P, averaged over the ranks
//     3. M is replaced by P Qt on every rank. The error, M - P Qt, is kept and added to
//        the next gradient (error feedback); the next step starts from Q (warm start)
//
// Each training step does one step of the power method: since gradients change slowly,
// the approximation improves. Biases and other small tensors are sent uncompressed.
//
// Vogels, Karimireddy, Jaggi 2019, PowerSGD: Practical Low-Rank Gradient Compression for
// Distributed Optimization.

#pragma once

#include <cstdint>

#include "libmini/parallel/comm_hooks.hpp"

namespace mini::parallel {

/// The options of `powerSGD_hook.PowerSGDState`.
struct PowerSGDOptions {
    int64_t matrix_approximation_rank = 1;  // r
    int64_t start_powerSGD_iter = 1000;     // earlier iterations use a plain all-reduce
    double min_compression_rate = 2.0;      // compress M if n m > rate * r (n + m)
    bool use_error_feedback = true;
    bool warm_start = true;
    double orthogonalization_epsilon = 0.0;  // for the columns of P and of Q
    uint64_t random_seed = 0;  // for the first Q; must be the same on all ranks
};

/// Returns the hook (`powerSGD_hook`). It is allreduce_hook in the first
/// start_powerSGD_iter iterations; an iteration ends with the bucket that is_last. Then
/// low_rank_of() says which gradients of a bucket are compressed, and the hook starts two
/// all-reduces: the mean of all_whole, and all_P, of which only the directions matter. In
/// the function that it returns, at the end of the backward pass, it waits for both, and
/// runs a third, the mean of all_Q. Afterwards the buffer holds P Qt of each matrix and
/// the mean of each other gradient. `sent` is P Qt of each matrix and this rank's own other
/// gradients. With error feedback, the hook of these iterations is in error_feedback_hook.
///
/// Q is this bucket's last one with warm start, else zeros; draw_zero_columns() fills it
/// with the numbers of one Generator. The columns of Q, and of P once it is summed, are
/// made orthonormal by orthogonalize().
///
/// Throws UsageError if matrix_approximation_rank is below 1, or if start_powerSGD_iter is
/// below 2 with error feedback or warm start, as in PyTorch: DDP rebuilds its buckets
/// between the first and the second iteration, and then the state of the old ones is lost.
CommHook power_sgd_hook(const PowerSGDOptions& options = {});

}  // namespace mini::parallel
