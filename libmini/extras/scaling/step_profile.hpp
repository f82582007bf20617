// The compute times of a rank in one training step, and the buckets of its gradients.
//
//     forward | backward ..................... |
//                   *  * *    *       *       *   gradients at their times
//             [ bucket 0 ]    [ bucket 1      ]   ready with their last gradients
//
// The times come from a run (the report of train_mnist), or from the sizes of a model.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/scaling/published_models.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::scaling {

/// The compute times of a rank without slowdown, in seconds.
struct StepProfile {
    double forward = 0;
    double backward = 0;
    std::vector<training::GradientTime> gradients;  // sorted by `ready`
    std::vector<std::string> names{};  // of the gradients; empty for a measured step
};

/// Returns the profile of a model. Divides `backward` among the parameters, from the last
/// to the first, in proportion to their costs. A gradient is ready at the end of its
/// parameter's part.
StepProfile profile_of(const std::vector<ModelParameter>& parameters, double forward,
                       double backward);

/// A measured step, and the bucket size of the measured run.
struct MeasuredStep {
    StepProfile profile;
    double bucket_cap_mb = 0;
};

/// Reads the report of `train_mnist --json`. Throws BadFile, which names the file and the
/// missing or wrong entry.
MeasuredStep read_step(const std::string& path);

/// The largest bucket size, in MiB.
constexpr double kMaxCapMb = 1e6;

struct StepBucket {
    int64_t bytes = 0;
    double ready = 0;  // seconds since the end of forward
};

/// Returns the buckets of assign_buckets() in the order in which they become
/// ready. REQUIRES: 0 <= cap_mb <= kMaxCapMb.
std::vector<StepBucket> buckets_of(const StepProfile& profile, double cap_mb);

}  // namespace mini::scaling
