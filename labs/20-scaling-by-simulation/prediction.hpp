// Predictions of a training step: from measurements of parts, never of the whole.
//
//     mini bench allreduce        times of all-reduces          alpha and beta
//     train_mnist on one rank     forward, backward, gradients  the computation
//
//     none       computation
//     flat       computation, wait for the slowest rank, one all-reduce
//     average    computation, wait, one all-reduce per gradient
//     ddp        the same with buckets, which the timeline hides behind backward

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/bucket_timeline.hpp"
#include "labs/20-scaling-by-simulation/link_fit.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::lab20 {

/// The computation of one rank that waits for no other; times in seconds.
struct Computation {
    double forward = 0, backward = 0;
    double others = 0;  // data loading, the optimizer's step, ...
    std::vector<training::GradientTime> gradients;
    std::vector<double> compute;  // forward and backward of each measured step

    double step() const { return others + forward + backward; }
};

/// Reads reports of `train_mnist --sync ddp --json` on one rank, one or several, and
/// returns their means. Throws BadFile.
Computation read_computation(const std::vector<std::string>& paths);

struct FittedLink {
    LinkFit fit;
    double largest_error = 0;  // relative
};

/// Fits alpha and beta to the output of `mini bench allreduce --format json`: each row as
/// the messages and bytes that its algorithm sends one after the other. Throws BadFile.
FittedLink fit_bench(const std::string& path);

/// Returns the time of an all-reduce by libmini's own choice of algorithm, on P ranks
/// with equal links.
double all_reduce_seconds(const LinkFit& fit, int P, int64_t bytes);

/// A row of the predicted table; times in seconds.
struct Prediction {
    std::string sync;        // as the option of train_mnist
    double step = 0;         // of the slowest rank
    double all_reduces = 0;  // the sum of their times
    double hidden = 0;       // the part of `all_reduces` before the end of backward
};

/// Returns the rows none, average, flat and ddp.
std::vector<Prediction> predict(const Computation& rank, const LinkFit& fit, int P,
                                double bucket_cap_mb);

}  // namespace mini::lab20
