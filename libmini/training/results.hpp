// The results of a training job.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/training/statistics.hpp"

namespace mini::training {

/// The results of a run. Vectors have one entry per epoch unless noted otherwise. In a
/// resumed run, these vectors begin with the first epoch of the original run.
struct Results {
    std::vector<double> train_loss;
    std::vector<double> step_loss;  // per step, first 1,000 steps; mean over ranks
    std::vector<double> test_accuracy;
    std::vector<double> seconds_per_epoch;  // resumed epoch: since the resume
    std::vector<double> lr;

    // Measured since the start of this process:
    std::optional<int64_t> resumed_at_step;
    double samples_per_second = 0.0;
    std::vector<std::string> parameters_sha256;  // one per rank
    std::vector<std::string> devices;            // one per rank: "cuda:1"
    std::vector<int64_t> bucket_bytes;           // of DDP's buckets
    TrainingStatistics statistics;
};

}  // namespace mini::training
