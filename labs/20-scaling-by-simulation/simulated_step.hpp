// One step of DistributedDataParallel on the simulated cluster.
//
//     rank          forward | backward ................. |
//     all-reduces                 [ bucket 0 ][ bucket 1 ....... ]
//     exposed                                            [.......]
//
// On each rank, a bucket's all-reduce starts when the bucket is ready and the previous
// all-reduce has ended on this rank. The all-reduces run libmini's own code on simulated
// links: a rank that sends slowly delays the ranks that wait for its messages.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/step_profile.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::lab20 {

struct StepBucket {
    int64_t bytes = 0;
    double ready = 0;  // seconds since the end of forward
};

/// Returns the buckets of assign_buckets(). REQUIRES: as assign_buckets().
std::vector<StepBucket> buckets_of(const StepProfile& profile, double cap_mb);

struct StepCluster {
    int ranks = 1;
    dist::Links links;
    dist::Algorithm algorithm = dist::Algorithm::kAuto;
    bool overlaps = true;  // false: all-reduces start after backward
};

/// Times of a step, in seconds of virtual time.
struct StepTimes {
    /// The sum over all buckets of the time from the last rank's start of the all-reduce
    /// to the last rank's end.
    double communication = 0;

    double exposed = 0;  // from the end of backward to the end of the step
    double step = 0;     // until the last rank has all averages

    std::vector<std::string> algorithms;  // that ran; each name once
};

/// Simulates a step. Blocks for the real time of the simulation: about 1 us per message.
StepTimes simulate_step(const StepProfile& profile,
                        const std::vector<StepBucket>& buckets,
                        const StepCluster& cluster);

}  // namespace mini::lab20
