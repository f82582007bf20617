// A job with a fault, made from a seed: what the ranks call, what goes wrong and when.
//
// Half of the jobs are whole, from the rendezvous to the end of the process group. The others
// begin with connected transports.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/simulation/process_cluster.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::tools {

/// What goes wrong.
enum class Fault : uint8_t {
    kNone,
    kSlow,
    kPause,
    kKill,
    kStop,
    kHold,
    kMismatch,
    kCut,
    kFlood,  // the victim only sends what no rank has asked for
    // Of whole jobs alone:
    kPartition,
    kNoMemory,
    kNeverComes,
    kTwoOfOne,
    kStranger,
};

/// How many there are.
constexpr size_t kFaultCount = static_cast<size_t>(Fault::kStranger) + 1;

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
    bool is_whole = false;  // with rendezvous, mesh and process group
    bool is_async = false;  // all calls are started before the first is waited for
    std::vector<Call> calls;
    std::chrono::milliseconds timeout{};
    Fault fault = Fault::kNone;
    int victim = 0;
    int other = 0;      // kHold: bytes from the victim do not arrive there; kCut
    size_t step = 0;    // of the cluster, when it happens; kMismatch: of the calls
    dist::Loss loss{};  // kKill
    dist::VirtualTime duration{};  // kPause; kPartition, 0: for good; kSlow: of each step
};

/// The job of a seed.
FaultPlan plan_of(uint64_t seed);

/// "seed 7: 3 ranks, ring of 5, tree of 64, timeout 1 s; kill rank 2 at step 17".
std::string describe(const FaultPlan& plan);

/// Returns jobs that are a little shorter: fewer ranks, fewer and smaller calls, an earlier
/// fault.
std::vector<FaultPlan> shorter(const FaultPlan& plan);

}  // namespace mini::tools
