// A job with a fault, made from a seed: what the ranks call, what goes wrong and when, and
// whether the survivors end as they must.
//
//     fault              survivors that do not return throw
//     none, slow, pause  nothing: every rank returns with the right sums
//     kill               PeerLost naming the killed rank
//     stop               Timeout naming the stopped rank
//     hold               Timeout naming an end of the link that hangs, or a circle of waits
//     mismatch           MismatchedCollective
//
// A rank returns with the right sums or throws; it throws by its deadline and a tenth; after
// kill and stop all ranks that throw name the same rank; nothing waits forever.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/simulation/mesh_cluster.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::tools {

/// What goes wrong.
enum class Fault : uint8_t { kNone, kSlow, kPause, kKill, kStop, kHold, kMismatch };

/// "none", "slow", ...
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
    std::vector<Call> calls;
    std::chrono::milliseconds timeout{};
    Fault fault = Fault::kNone;
    int victim = 0;
    int other = 0;             // kHold: bytes from the victim to this rank do not arrive
    size_t step = 0;           // of the cluster, when it happens; kMismatch: of the calls
    bool loses_bytes = false;  // kKill
    dist::VirtualTime duration{};  // kPause; kSlow: of each step
};

/// The job of a seed.
FaultPlan plan_of(uint64_t seed);

/// "seed 7: 3 ranks, ring of 5, tree of 64, timeout 1 s; kill rank 2 at step 17".
std::string describe(const FaultPlan& plan);

/// What came of a job.
struct FaultResult {
    std::vector<dist::RankEnd> ends;  // by rank
    std::string error;                // "" when all that must hold holds
    bool happened = false;            // whether the fault was before the end of the job
};

/// What is wrong with how the ranks of a job ended: "" when all that must hold holds, else the first
/// rank with it. Sums are checked by play().
std::string check(const FaultPlan& plan, const std::vector<dist::RankEnd>& ends);

/// Plays a job; the same plan gives the same result.
FaultResult play(const FaultPlan& plan);

/// The plan, how each rank ended, and what is wrong, line by line.
std::string story_of(const FaultPlan& plan, const FaultResult& result);

}  // namespace mini::tools
