// A job with a fault, generated from a seed: the calls of the ranks, the fault, and the
// step at which the fault happens.
//
// Half of the jobs are whole jobs, from the rendezvous to the end of the process group.
// The other jobs begin with connected transports.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"

namespace mini::test {

/// The kind of a fault.
enum class Fault : uint8_t {
    kNone,
    kSlow,
    kPause,
    kKill,
    kStop,
    kHold,
    kMismatch,
    kCut,
    kFlood,  // the victim only sends messages that no rank receives
    // Only in whole jobs:
    kPartition,
    kNoMemory,
    kNeverComes,
    kTwoOfOne,
    kStranger,
};

/// Returns the name of a fault: "none", "slow", ...
const char* fault_name(Fault fault);

/// One job.
struct FaultPlan {
    /// One all_reduce of the job.
    struct Call {
        dist::Algorithm algorithm = dist::Algorithm::kRing;
        size_t count = 0;  // float32 elements
    };

    uint64_t seed = 0;
    int world_size = 2;
    dist::Links links;
    bool is_whole = false;  // from the rendezvous to the end of the process group
    bool is_async = false;  // starts all calls before it waits for the first call
    std::vector<Call> calls;
    std::chrono::milliseconds timeout{};
    Fault fault = Fault::kNone;
    int victim = 0;
    int other = 0;      // kHold: gets no bytes from the victim; kCut: the other end
    size_t step = 0;    // the cluster's step of the fault; kMismatch: index of the call
    dist::Loss loss{};  // kKill: the bytes that are lost
    dist::VirtualTime duration{};  // kPause; kPartition, 0: forever; kSlow: per step
};

/// Returns the job of a seed.
FaultPlan plan_of(uint64_t seed);

/// Returns "seed 7: 3 ranks, ring of 5, tree of 64, timeout 2000 ms; kill rank 2 at step
/// 17".
std::string describe(const FaultPlan& plan);

}  // namespace mini::test
