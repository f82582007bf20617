// What a rank computes in one training step, and the buckets of its gradients.
//
//     forward | backward ..................... |
//                   *  * *    *       *       *   gradients, each at its time
//             [ bucket 0 ]    [ bucket 1      ]   ready with its last gradient
//
// The times come from a run (the report of train_mnist), or from the sizes of a model.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tools/mini/published_models.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::tools {

/// Times are in seconds, on a rank that is not slow.
struct StepProfile {
    double forward = 0;
    double backward = 0;
    std::vector<training::GradientTime> gradients;  // in the order of their times
};

/// Spreads `backward` over the parameters, from the last to the first, in proportion to their
/// costs. A gradient is ready when the cost of its parameter has passed.
StepProfile profile_of(const std::vector<ModelParameter>& parameters, double forward,
                       double backward);

/// A measured step, and the bucket size of the run that it is from.
struct MeasuredStep {
    StepProfile profile;
    double bucket_cap_mb = 0;
};

/// Reads the report of `train_mnist --json`. Throws BadFile, which names the file and what is
/// missing or wrong.
MeasuredStep read_step(const std::string& path);

/// The largest bucket size, in MiB.
constexpr double kMaxCapMb = 1e6;

struct StepBucket {
    int64_t bytes = 0;
    double ready = 0;  // seconds since the end of forward
};

/// Groups the gradients as DistributedDataParallel does: by compute_bucket_assignment(), with a
/// first bucket of 1 MiB, or of `cap_mb` if that is less. 0 gives each gradient a bucket. In
/// the order in which they are ready. REQUIRES: 0 <= cap_mb <= kMaxCapMb.
std::vector<StepBucket> buckets_of(const StepProfile& profile, double cap_mb);

}  // namespace mini::tools
