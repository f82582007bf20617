// A job with a fault, made from a seed: what the ranks call, what goes wrong and when, and
// whether the survivors end as they must.
//
//     fault                    survivors that do not return throw
//     none, slow, pause        nothing: every rank returns with the right sums
//     stranger                 nothing: another program connects to all ports
//     kill                     PeerLost naming the killed rank
//     stop                     Timeout naming the stopped rank
//     hold                     Timeout naming an end of the link that hangs, or a circle of waits
//     cut                      an error naming an end of the connection that breaks
//     partition                an error naming a rank; nothing if it heals in time
//     no memory                an error naming the rank that has none
//     never comes              Timeout naming the rank that was not started
//     two of one               an error naming both processes that have one rank; when one
//                             comes too late, it alone throws
//     mismatch                 MismatchedCollective
//
// Half of the jobs are whole: rendezvous, mesh and process group. Faults meet the start of
// those too, so that other errors than PeerLost may name the rank. The other half begins with
// connected transports. A rank returns with the right sums or throws; it throws by its deadline
// and a tenth; after kill and stop all ranks that throw name the same rank; nothing waits
// forever; at the end every socket is closed.

// Exceptions to the rule which rank is named; they are counted:
//
//   - before all ranks are connected, a rank whose deadline passes names the rank that it
//     waited for, which may itself wait for another;
//   - when a connection breaks in the middle of a message, a rank that had returned before may
//     be named: it, too, has closed its connections;
//   - when rank 0 has no memory, its store may drop another rank, which all then name.

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
    // Of whole jobs alone:
    kPartition,
    kNoMemory,
    kNeverComes,
    kTwoOfOne,
    kStranger,
};

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

/// What came of a job.
struct FaultResult {
    std::vector<dist::ProcessEnd> ends;  // by rank; then the further process, if any
    std::string error;                   // "" when all that must hold holds
    int exceptions = 0;     // how many ranks named another rank by one of the exceptions
    bool happened = false;  // whether the fault was before the end of the job
};

/// Checks how the ranks of a job ended: sets `error` to the first thing that is wrong, and
/// counts exceptions. Sums and sockets are checked by play().
void check(const FaultPlan& plan, FaultResult& result);

/// Plays a job; the same plan gives the same result.
FaultResult play(const FaultPlan& plan);

/// Returns the shortest job, by small steps from `plan`, that still goes wrong: fewer ranks,
/// fewer and smaller calls, an earlier fault. REQUIRES: play(plan) goes wrong.
FaultPlan shrink(const FaultPlan& plan);

/// The plan, how each rank ended, and what is wrong, line by line.
std::string story_of(const FaultPlan& plan, const FaultResult& result);

}  // namespace mini::tools
