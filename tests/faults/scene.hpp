// Plays a scenario: ranks as processes, or as threads of one, with a watchdog beside
// them.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

struct Outcome {
    std::vector<std::string> texts;              // by rank; what it threw, "" for nothing
    std::vector<std::optional<Timing>> timings;  // by rank; of those that threw
    bool hung = false;                           // the watchdog had to end it
};

/// `group_kind`: "threads", "ring-tcp", "ring-shm", "gloo", "mpi". Blocks until all ranks
/// are gone. REQUIRES: no thread is running.
Outcome play(const std::string& group_kind, const Scenario& scenario);

/// The same under mpirun, whose ranks are this program again, as
/// "PROGRAM mpi --mpi-rank BOARD --mpi-scenario LINE". Open MPI 4.1.4's mpirun now and
/// then crashes or hangs when ranks have failed, after all is said: it is ended then.
Outcome play_under_mpirun(const Scenario& scenario);
void play_mpi_rank(const std::string& board_file, const std::string& line);

}  // namespace mini::dist::faults
