// The timeline of the buckets in one backward pass of DistributedDataParallel, and the steps
// of a training, predicted from measurements of parts, never of the whole:
//
//     mini bench allreduce        times of all-reduces          alpha and beta
//     train_mnist on one rank     forward, backward, gradients  the computation
//
//     gradients    |  a   b  c   d     e |         ready one after another
//     bucket 0     |  a---b              |         ready with its last gradient, b
//     bucket 1     |         c---d-----e |
//     thread       |      [  0  ]        [   1   ]
//
// One thread all-reduces the buckets, one at a time, in the order of their numbers. This is
// the view of one rank, with all ranks alike. The simulated cluster (simulated_step.hpp)
// has the messages of all ranks instead: it needs minutes for what takes microseconds here,
// but it knows hosts, queues and slow ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/training/statistics.hpp"

namespace mini::lab20 {

/// The indices of gradients, for each bucket.
using BucketIndices = std::vector<std::vector<size_t>>;

/// Returns the time of an all-reduce of so many bytes, in seconds.
using AllReduceSeconds = std::function<double(int64_t bytes)>;

/// Returns the bytes of each bucket, when it is ready, and when its all-reduce begins and
/// ends, in seconds since the end of forward. A bucket is ready with its last gradient; its
/// all-reduce begins when it is ready and the one of the bucket before it has ended.
/// REQUIRES: each gradient is in one bucket, and no bucket is empty; the gradients may be
/// in any order.
std::vector<training::BucketTime> bucket_timeline(
    const std::vector<training::GradientTime>& gradients, const BucketIndices& buckets,
    const AllReduceSeconds& all_reduce_seconds);

/// The computation of one rank that waits for no other; times in seconds.
struct Computation {
    double forward = 0, backward = 0;
    double others = 0;  // data loading, the optimizer's step, ...
    std::vector<training::GradientTime> gradients;
    std::vector<double> compute;  // forward and backward of each measured step

    double step() const { return others + forward + backward; }
};

/// A row of the predicted table; times in seconds.
struct Prediction {
    std::string sync;        // as the option of train_mnist
    double step = 0;         // of the slowest rank
    double all_reduces = 0;  // the sum of their times
    double hidden = 0;       // the fraction of `all_reduces` before the end of backward
};

/// Returns the rows of lab 16's table, in this order:
///
///     none       the computation
///     average    computation, wait, then one all-reduce for each gradient
///     flat       computation, wait, then one all-reduce of all bytes
///     ddp        forward, then backward and the all-reduces of `buckets` at the same time,
///                by bucket_timeline(), then what is left of the step, and the wait
///
/// The wait for the slowest of P ranks is expected_maximum() of rank.compute less its mean.
/// `hidden` is 0 for other rows than ddp, and without all-reduces. REQUIRES: rank.compute
/// is not empty; P >= 1.
std::vector<Prediction> predict(const Computation& rank, int P,
                                const BucketIndices& buckets,
                                const AllReduceSeconds& all_reduce_seconds);

}  // namespace mini::lab20
