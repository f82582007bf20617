// The timeline of the buckets in one backward pass of DistributedDataParallel, predicted
// from the times of the gradients and of an all-reduce.
//
//     gradients    |  a   b  c   d     e |         ready one after another
//     bucket 0     |  a---b              |         ready with its last gradient, b
//     bucket 1     |         c---d-----e |
//     lane         |      [  0  ]        [   1   ]
//
// One lane all-reduces the buckets, one at a time, in the order of their numbers. This is
// the view of one rank, with all ranks alike. The simulated cluster
// (simulated_step.hpp) has the messages of all ranks instead: it needs minutes
// for what takes microseconds here, but it knows hosts, queues and slow ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "libmini/training/statistics.hpp"

namespace mini::lab20 {

/// The indices of gradients, for each bucket.
using BucketIndices = std::vector<std::vector<size_t>>;

/// The default size of the first bucket, in MiB.
constexpr double kFirstBucketMb = 1;

/// Groups gradients into buckets in their order, as DistributedDataParallel does: by
/// compute_bucket_assignment(), with a first bucket of `first_mb` MiB, or of `cap_mb` if
/// `cap_mb` is less. If a limit is 0, one gradient reaches it. REQUIRES: the gradients
/// have a positive multiple of 4 bytes; 0 <= cap_mb, first_mb <= 1e6.
BucketIndices assign_buckets(const std::vector<training::GradientTime>& gradients,
                             double cap_mb, double first_mb = kFirstBucketMb);

/// Returns the time of an all-reduce of so many bytes, in seconds.
using AllReduceSeconds = std::function<double(int64_t bytes)>;

/// Returns when each bucket is ready, and when its all-reduce begins and ends, in seconds
/// since the end of forward. REQUIRES: each gradient is in one bucket, and no bucket is
/// empty; the gradients may be in any order.
std::vector<training::BucketTime> bucket_timeline(
    const std::vector<training::GradientTime>& gradients, const BucketIndices& buckets,
    const AllReduceSeconds& all_reduce_seconds);

}  // namespace mini::lab20
