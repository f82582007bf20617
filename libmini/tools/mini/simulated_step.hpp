// One step of DistributedDataParallel on the simulated cluster.
//
//     rank          forward | backward ................. |
//     all-reduces                 [ bucket 0 ][ bucket 1 ....... ]
//     exposed                                            [.......]
//
// A bucket's all-reduce starts on a rank when the bucket is ready there and the all-reduce
// before it has ended there. It is the library's own code, on the ranks' own links: a rank that
// computes slowly, or sends slowly, delays the others through the messages that they wait for.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/tools/mini/step_profile.hpp"

namespace mini::tools {

struct StepCluster {
    int ranks = 1;
    dist::Links links;
    uint64_t seed = 0;
    dist::Algorithm algorithm = dist::Algorithm::kAuto;
    bool overlaps = true;  // false: all-reduces start after backward
    std::map<int, double>
        slowdown;  // of slow ranks: what their compute times are multiplied by
};

/// In seconds of virtual time.
struct StepTimes {
    double compute = 0;  // forward and backward of the slowest rank

    /// Of all buckets, each from when the last rank has started its all-reduce until the last
    /// rank has ended it.
    double communication = 0;

    double exposed = 0;  // from the end of `compute` to the end of the step
    double step = 0;     // until the last rank has all averages

    std::vector<std::string> algorithms;  // of the buckets, each name once
};

/// Simulates the step. Blocks for the wall time of the simulation: about 1 us per message.
StepTimes simulate_step(const StepProfile& profile,
                        const std::vector<StepBucket>& buckets,
                        const StepCluster& cluster);

}  // namespace mini::tools
