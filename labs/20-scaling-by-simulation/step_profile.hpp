// The compute times of a rank in one training step, and when its gradients are ready.
//
//     forward | backward ..................... |
//                   *  * *    *       *       *   gradients at their times
//
// The times come from a run (the report of train_mnist), or from the sizes of a model.

#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/prediction.hpp"
#include "labs/20-scaling-by-simulation/published_models.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::lab20 {

/// The compute times of a rank, in seconds.
struct StepProfile {
    double forward = 0;
    double backward = 0;
    std::vector<training::GradientTime> gradients;
    std::vector<std::string> names{};  // of the gradients; empty for a measured step
};

/// Returns the profile of a model. Divides `backward` among the parameters, from the last
/// to the first, in proportion to their costs. A gradient is ready at the end of its
/// parameter's part.
StepProfile profile_of(const std::vector<ModelParameter>& parameters, double forward,
                       double backward);

/// The default size of the first bucket, in MiB.
constexpr double kFirstBucketMb = 1;

/// Groups gradients into buckets in their order, as DistributedDataParallel does: by
/// compute_bucket_assignment(), with a first bucket of `first_mb` MiB, or of `cap_mb` if
/// `cap_mb` is less. If a limit is 0, one gradient reaches it. REQUIRES: the gradients
/// have a positive multiple of 4 bytes; 0 <= cap_mb, first_mb <= 1e6.
BucketIndices assign_buckets(const std::vector<training::GradientTime>& gradients,
                             double cap_mb, double first_mb = kFirstBucketMb);

/// Calls `read` with the JSON of a file. Throws BadFile, which names the file, if it is
/// missing or no JSON, or if `read` throws.
void read_json(const std::string& path,
               const std::function<void(const nlohmann::json&)>& read);

/// Returns the profile of a report of `train_mnist --sync ddp --json`. Throws Error if it
/// has no gradients.
StepProfile reported_profile(const nlohmann::json& report);

}  // namespace mini::lab20
