// One injected fault: its kind, its moment, the operation, the rank and the world size;
// and the error that every survivor must throw.

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
    kNoMemory,     // the same, std::bad_alloc
    kAborts,       // abort()
    kCrashes,      // SIGSEGV
    kStopped,      // SIGSTOP forever; a rank that cannot be stopped sleeps instead
    kPaused,       // SIGSTOP, and SIGCONT before the deadline: no error
    kSlow,         // is late, but before the deadline: no error
    kOtherCall,    // calls another collective
    kOtherSize,    // calls it with a different number of elements
    kSkips,        // skips one call
    kStopsEarly,   // has fewer steps than the others, and shuts down
    kAbsent,       // is never started
    kOtherWorld,   // joins with another world size
    kTwice,        // joins with the rank of another process
};
const char* kind_name(Kind kind);

/// Whether the victim's process or thread ends.
inline bool is_death(Kind kind) { return kind <= Kind::kCrashes; }

enum class Moment {  // of the fault
    kJoining,        // in init_process_group, after a random number of microseconds
    kBefore,         // before the rank's first collective
    kBetween,        // between two
    kInside,         // in one, after a random number of microseconds
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
    unsigned seed = 0;                    // of its random numbers
    std::chrono::milliseconds timeout{};  // of the group
    bool is_over_mpi = false;
    bool is_over_gloo = false;
};
std::string describe(const Scenario& scenario);

/// Returns the faults for a kind of group ("threads", "ring-tcp", "ring-shm", "gloo",
/// "mpi"), without those that are impossible there; `fast`: a few of each kind. A `seed`
/// other than 0 draws the order, the victims, the sizes and the times of the faults.
std::vector<Scenario> all_scenarios(const std::string& group_kind, bool fast,
                                    unsigned seed = 0);

/// Whether the survivors must throw no error.
bool ends_well(const Scenario& scenario);

/// Checks the error `text` of survivor `rank` ("": no error). Returns "" if it is right,
/// else what is wrong with it.
std::string fault_of(const Scenario& scenario, int rank, const std::string& text);

/// When a survivor threw its error, in milliseconds.
struct Timing {
    double after_fault = 0;        // since the fault
    double after_first_start = 0;  // since the first survivor began the failed operation
    double after_last_start = 0;   // since the last survivor began it
};

/// Returns "" if the error was thrown in time, else why it is too early or too late. The
/// bounds:
///
///     a death         at most 1 s after it
///     a mismatch      at most 1 s after it
///     silence         at least 0.9 of the timeout after the first survivor began to
///                     wait, and at most 1.1 of it, or 1 s more than it for a short
///                     timeout, after the last survivor did
std::string bound_broken(const Scenario& scenario, const Timing& timing);

}  // namespace mini::dist::faults
