// Runs a scenario: the ranks as processes or as threads of one process, with a watchdog.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

struct Outcome {
    std::vector<std::string> texts;  // by rank: text of the exception; "": none
    std::vector<std::optional<Timing>> timings;  // by rank; std::nullopt: no error
    bool hung = false;                           // the watchdog had to kill ranks
};

/// Runs a scenario; `group_kind` is "threads", "ring-tcp", "ring-shm", "gloo" or "mpi".
/// Blocks until all ranks have exited. REQUIRES: this process has no other thread.
Outcome play(const std::string& group_kind, const Scenario& scenario);

/// Runs a scenario under mpirun, which starts this program as "PROGRAM mpi --mpi-rank
/// BOARD --mpi-scenario LINE". Blocks until all ranks have exited. Kills mpirun if it
/// hangs: Open MPI 4.1.4's mpirun sometimes hangs or crashes after ranks have failed.
Outcome play_under_mpirun(const Scenario& scenario);

/// Runs one rank of play_under_mpirun, which passes `line`, a scenario as JSON.
void play_mpi_rank(const std::string& board_file, const std::string& line);

}  // namespace mini::dist::faults
