// One injected fault: what goes wrong, where, in which operation, on which rank of how
// many. And what every survivor must then say.

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
    kStopped,      // SIGSTOP for good; where that is impossible it just does not come
    kPaused,       // SIGSTOP, and SIGCONT before the deadline: no error
    kSlow,         // comes late, before the deadline: no error
    kOtherCall,    // calls something else
    kOtherSize,    // the same with a different number of elements
    kSkips,        // leaves one call out
    kStopsEarly,   // has fewer steps than the others, and shuts down
    kAbsent,       // is never started
    kOtherWorld,   // joins with another world size
    kTwice,        // joins as a rank that there is already
};
const char* kind_name(Kind kind);

/// Whether the victim's process or thread ends.
inline bool is_death(Kind kind) { return kind <= Kind::kCrashes; }

enum class Moment {  // of the fault
    kJoining,        // in init_process_group, after a random number of microseconds
    kBefore,         // before the rank's first collective
    kBetween,        // between two
    kInside,         // in one, after a random number of microseconds
    kShutdown,       // when the others have nothing more to do
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
    unsigned seed = 0;                    // of what is random in it
    std::chrono::milliseconds timeout{};  // of the group
    bool is_over_mpi = false;
    bool is_over_gloo = false;
};
std::string describe(const Scenario& scenario);

/// The table for a kind of group ("threads", "ring-tcp", "ring-shm", "gloo", "mpi"), less
/// what it cannot have; `fast`: a few of each sort. A `seed` other than 0 decides the
/// order, the victims, the sizes and the times of the faults.
std::vector<Scenario> all_scenarios(const std::string& group_kind, bool fast,
                                    unsigned seed = 0);

/// Whether the survivors must hear nothing of it.
bool ends_well(const Scenario& scenario);

/// Why `text`, which survivor `rank` threw ("" for nothing), is wrong; "" when it is right.
std::string fault_of(const Scenario& scenario, int rank, const std::string& text);

/// When a survivor's error came, in milliseconds.
struct Timing {
    double after_fault = 0;        // since the victim began to do wrong
    double after_first_start = 0;  // since the first survivor began what it failed in
    double after_last_start = 0;   // since the last one did
};

/// Why an error at that time is too early or too late; "" when it is neither.
///
///     a death         1 s after it
///     a mismatch      1 s after it
///     silence         from 0.9 of the timeout, counted from where the first survivor began
///                     to wait, to 1.1 of it (or 250 ms more), counted from where the last
///                     one did
std::string bound_broken(const Scenario& scenario, const Timing& timing);

}  // namespace mini::dist::faults
