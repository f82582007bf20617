// Top-k compression: each rank sends only its k largest gradients, with their indices.
//
//     rank 0    0.1  -4    0    0.2        sends -4 at 1
//     rank 1    0    0.3   8   -0.1        sends  8 at 2
//     average   0   -2     4    0          of what was sent
//
// The ranks choose different indices, so their messages cannot be summed on the way:
// two all-gathers bring the k values and indices of each rank to all ranks. A rank sends
// P-1 messages of k float32 and P-1 of k int64, 12 k (P-1) bytes: unlike the bytes of an
// all-reduce, this grows with the number P of ranks.
//
// Without error feedback a small gradient is never sent, in any step.
//
// Aji and Heafield 2017, Sparse Communication for Distributed Gradient Descent. Stich,
// Cordonnier, Jaggi 2018, Sparsified SGD with Memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/parallel/comm_hooks.hpp"

namespace mini::parallel {

/// Returns the indices of the k values of largest magnitude, in any order. Of equal
/// magnitudes the smaller index is chosen. NaN counts as infinite, so that it is sent.
/// Takes O(n) steps for n values. REQUIRES: k <= values.size().
std::vector<int64_t> top_k_indices(std::span<const float> values, size_t k);

/// Returns a hook that sends, of a bucket of n gradients, the k of largest magnitude:
/// k = compress_ratio * n, rounded up. It starts both all-gathers; the function that it
/// returns waits for them. The result in the buffer is the mean over the ranks, where a
/// rank counts as zero at the indices that it did not send. `sent` is this rank's k
/// values, and zero elsewhere. On a GPU the values are chosen and added on the CPU. Throws
/// UsageError unless 0 < compress_ratio <= 1.
CommHook top_k_hook(double compress_ratio = 0.01);

}  // namespace mini::parallel
