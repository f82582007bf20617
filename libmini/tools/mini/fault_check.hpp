// Whether the ranks of a job with a fault end as they must.
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
//     flood                    Timeout; a rank that sends what no rank has asked for passes on
//                              what others report, so that any rank may be named
//     never comes              Timeout naming the rank that was not started
//     two of one               an error naming both processes that have one rank; when one
//                             comes too late, it alone throws
//     mismatch                 MismatchedCollective
//
// Faults meet the start of a whole job too, so that other errors than PeerLost may name the
// rank. A rank returns with the right sums or throws; it throws by its deadline
// and a tenth; after kill and stop all ranks that throw name the same rank; nothing waits
// forever; at the end every socket is closed.
//
// Exceptions to the rule which rank is named; they are counted:
//
//   - before all ranks are connected, a rank whose deadline passes names the rank that it
//     waited for, which may itself wait for another;
//   - when a connection breaks in the middle of a message, a rank that had returned before may
//     be named: it, too, has closed its connections;
//   - when rank 0 has no memory, its store may drop another rank, which all then name.

#pragma once

#include <string>
#include <vector>

#include "libmini/distributed/simulation/process_cluster.hpp"
#include "libmini/tools/mini/fault_plan.hpp"

namespace mini::tools {

/// What came of a job.
struct FaultResult {
    std::vector<dist::ProcessEnd> ends;  // by rank; then the further process, if any
    std::string error;                   // "" when all that must hold holds
    int exceptions = 0;     // how many ranks named another rank by one of the exceptions
    bool happened = false;  // whether the fault was before the end of the job
    dist::VirtualTime when{};  // of the fault
};

/// Checks how the ranks of a job ended: sets `error` to the first thing that is wrong, and
/// counts exceptions. Sums and sockets are checked by play() (fault_run.hpp).
void check(const FaultPlan& plan, FaultResult& result);

}  // namespace mini::tools
