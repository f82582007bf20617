// Checks how the ranks of a job with a fault end. A surviving rank returns with the right
// sums, or throws an error that the fault allows:
//
//     kill          PeerLost that names the killed rank
//     stop          Timeout that names the stopped rank
//     hold          Timeout that names an end of the held link, or a cycle of waits
//     cut           PeerLost that names an end of the broken connection
//     partition     any error
//     no memory     an error that names the rank without memory
//     flood         Timeout that names any rank: the victim forwards other reports
//     never comes   an error that names the rank that was not started
//     two of one    an error that reports two processes with the same rank
//     mismatch      MismatchedCollective
//     others        no error (none, slow, pause, stranger)

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/faults/search/fault_plan.hpp"

namespace mini::test {

/// The result of a job.
struct FaultResult {
    std::vector<dist::ProcessEnd> ends;  // by rank; then the additional process, if any
    std::string error;                   // "" if the job ended as required
    int exceptions = 0;     // number of ranks that named another rank, as check() allows
    bool happened = false;  // whether the fault happened before the end of the job
    dist::VirtualTime when{};  // time of the fault
};

/// Checks how the ranks of a job ended, and sets `result.error` to the first violation:
///
///   - a rank waits forever, or throws long after its deadline;
///   - a rank throws an error that the table above does not allow. In a whole job, the
///     fault may happen during the rendezvous. There, only the named rank is checked, not
///     the type of the error, except for mismatch;
///   - in a job without rendezvous, kill or stop makes ranks name different ranks.
///
/// The victim of kill, stop, no memory and flood may end in any way, except waiting
/// forever. One of two processes with the same rank (two of one) may throw any error if
/// all other processes have returned.
///
/// In three cases a rank may name another rank; `result.exceptions` counts these ranks:
///
///   - In a whole job, before all ranks are connected, a rank whose deadline passes names
///     the rank that it waited for. That rank may itself wait for another rank.
///   - After kill and cut, a rank may name a rank that has returned, because the returned
///     rank has closed its connections too.
///   - If rank 0 has no memory, its store may drop another rank. All ranks then name it.
///
/// play() (fault_run.hpp) checks the sums, and that all sockets are closed.
void check(const FaultPlan& plan, FaultResult& result);

}  // namespace mini::test
