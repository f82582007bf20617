// One injected fault: what goes wrong, where, in which operation, on which rank of how
// many. And what every survivor must then say.

#pragma once

#include <string>
#include <vector>

#include "libmini/dist/process_group.hpp"

namespace mini::dist::faults {

enum class Kind {  // the fault
    kKilled,       // SIGKILL; a thread returns
    kExits,        // exit code 0, too early; a thread drops its group
    kThrows,       // an exception in the rank's own code
    kStopped,      // SIGSTOP for good; a thread just does not come
    kPaused,       // SIGSTOP, and SIGCONT before the deadline: no error
    kSlow,         // comes late, before the deadline: no error
    kOtherCall,    // calls something else
    kOtherSize,    // the same with another number of elements
    kSkips,        // leaves one call out
    kStopsEarly,   // has fewer steps than the others, and shuts down
};
const char* kind_name(Kind kind);

enum class Moment {  // of the fault
    kBefore,         // before the rank's first collective
    kBetween,        // between two
    kInside,         // in one, after a random number of microseconds
    kShutdown,       // when the others have nothing more to do
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
    unsigned seed = 0;  // of what is random in it
};
std::string describe(const Scenario& scenario);

/// The same table for every kind of group; `fast`: a few of each sort.
std::vector<Scenario> all_scenarios(bool fast);

/// Why `text`, which survivor `rank` threw ("" for nothing), is wrong; "" when it is right.
std::string fault_of(const Scenario& scenario, int rank, const std::string& text);

/// One step of the scenario's operation on this rank; blocks.
void step(ProcessGroup& group, const Scenario& scenario);

}  // namespace mini::dist::faults
