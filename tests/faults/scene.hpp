// Runs a scenario: ranks as processes, or as threads of one process, and a watchdog.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

struct Outcome {
    std::vector<std::string> texts;              // by rank: the error it threw; "": none
    std::vector<std::optional<Timing>> timings;  // by rank; std::nullopt: no error
    bool hung = false;                           // the watchdog had to kill it
};

/// Runs a scenario; `group_kind` is "threads", "ring-tcp", "ring-shm", "gloo" or "mpi".
/// Blocks until all ranks have exited. REQUIRES: this process has no other thread.
Outcome play(const std::string& group_kind, const Scenario& scenario);

/// The same under mpirun, which starts this program as "PROGRAM mpi --mpi-rank BOARD
/// --mpi-scenario LINE". Open MPI 4.1.4's mpirun sometimes crashes or hangs after ranks
/// have failed and reported: it is killed then.
Outcome play_under_mpirun(const Scenario& scenario);

/// Runs one rank of play_under_mpirun.
void play_mpi_rank(const std::string& board_file, const std::string& line);

}  // namespace mini::dist::faults
