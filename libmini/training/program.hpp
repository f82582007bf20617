// Helpers for the main function of a training program: connects the ranks, reports an
// error of one rank on all ranks, and returns the exit code.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::training {

/// Returns the variables that a launcher (minirun, torchrun, mpirun, srun) has set for
/// this process; std::nullopt if it was started without a launcher. Throws UsageError for
/// variables that contradict each other.
std::optional<dist::RankVariables> launcher();

/// Whether minirun or torchrun has restarted this job after a failure.
bool is_restart();

/// Connects to the other ranks, and blocks; without a launcher this is the only rank.
std::shared_ptr<dist::ProcessGroup> join_group();

/// An error that all ranks throw with the same message, so only rank 0 prints it.
class SharedError : public Error {
  public:
    using Error::Error;
};

/// Calls `body` on every rank. If it throws on any rank, all ranks throw the error of the
/// lowest such rank, as a UsageError if it was one, otherwise as a SharedError: a rank
/// that exited alone would leave the others waiting. Blocks until all ranks have called
/// it.
void on_all_ranks(dist::ProcessGroup& group, const std::function<void()>& body);

/// Runs the body of main and returns the exit code: 0 for success, 1 for failure, 2 for
/// invalid options. Prints errors to stderr; only rank 0 prints a UsageError or
/// SharedError.
int run(const std::string& name, const std::function<void()>& body);

}  // namespace mini::training
