// A scenario is one injected fault: its kind, its moment, the operation, the rank and the
// world size. Also here: the error that every survivor must throw.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist::faults {

enum class Kind {  // the fault
    kKilled,       // SIGKILL; a thread returns
    kExits,        // exit code 0, too early; a thread drops its group
    kThrows,       // an exception in the rank's own code
    kNoMemory,     // std::bad_alloc in the rank's own code
    kAborts,       // abort()
    kCrashes,      // SIGSEGV
    kStopped,      // SIGSTOP forever; a rank that cannot be stopped sleeps instead
    kPaused,       // SIGSTOP, and SIGCONT before the deadline: causes no error
    kSlow,         // is late, but before the deadline: causes no error
    kOtherCall,    // calls another collective
    kOtherSize,    // calls all_reduce with a different number of elements
    kSkips,        // skips one call
    kStopsEarly,   // runs fewer steps than the other ranks, and shuts down
    kAbsent,       // is never started
    kOtherWorld,   // joins with another world size
    kTwice,        // joins with the rank of another process
};
const char* kind_name(Kind kind);

/// Returns whether the victim's process or thread ends because of the fault.
inline bool is_death(Kind kind) { return kind <= Kind::kCrashes; }

enum class Moment {  // of the fault
    kJoining,        // in init_process_group, after a random number of microseconds
    kBefore,         // before the rank's first collective
    kBetween,        // between two collectives
    kInside,         // in a collective, after a random number of microseconds
    kShutdown,       // when all ranks have completed their steps
    kLeaving,        // in shutdown, after a random number of microseconds
};
const char* moment_name(Moment moment);

struct Scenario {
    Kind kind = Kind::kKilled;
    Moment moment = Moment::kBetween;
    Operation operation = Operation::kAllReduce;
    Algorithm algorithm = Algorithm::kAuto;
    int64_t n = 1000;
    int world_size = 2;
    int victim = 0;
    unsigned seed = 0;         // of the fault's random numbers
    bool in_subgroup = false;  // the operations run in a subgroup, of all ranks
    std::chrono::milliseconds timeout{};  // of the group
    bool is_over_gloo = false;
};
std::string describe(const Scenario& scenario);

/// Returns the faults that are possible in a kind of group ("threads", "ring-tcp",
/// "ring-shm", "gloo"); if `fast`, only a few of each kind. A `seed` other than 0
/// draws the order, the victims, the sizes and the times of the faults.
std::vector<Scenario> all_scenarios(const std::string& group_kind, bool fast,
                                    unsigned seed = 0);

/// Returns whether the survivors must not throw an error.
bool ends_well(const Scenario& scenario);

/// Checks the error `text` of survivor `rank` ("": no error). Returns "" if the text is
/// right, else what is wrong.
std::string fault_of(const Scenario& scenario, int rank, const std::string& text);

/// When a survivor threw its error, in milliseconds.
struct Timing {
    double after_fault = 0;        // since the fault
    double after_first_start = 0;  // since the first survivor began the failed operation
    double after_last_start = 0;   // since the last survivor began that operation
};

/// Returns "" if the error was thrown in time, else how it was too early or too late.
/// With latest = the longer of 1.1 timeouts and the timeout + 1 s, the bounds are:
///
///     a death            at most 1 s after the death
///     a mismatch         at most 1 s after the victim's first different call
///     a silent rank      at least 0.9 timeouts after the first survivor began to wait,
///                        at most `latest` after the last survivor began to wait
///     while joining      at most `latest` after the last survivor began to join
std::string bound_broken(const Scenario& scenario, const Timing& timing);

}  // namespace mini::dist::faults
