// Helpers for the main function of a training program. They connect the ranks, throw the
// error of one rank on all ranks, and compute the exit code.

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
/// this process; std::nullopt if no launcher started the process. Throws UsageError if
/// variables contradict each other.
std::optional<dist::RankVariables> launcher();

/// Returns whether minirun or torchrun has restarted this job after a failure.
bool is_restart();

/// Returns the process group of all ranks; without a launcher, of this process alone.
/// Blocks until all ranks are connected.
std::shared_ptr<dist::ProcessGroup> join_group();

/// An error that all ranks throw with the same message, so only rank 0 prints it.
class SharedError : public Error {
  public:
    using Error::Error;
};

/// Calls `body` on every rank. If `body` throws on some ranks, all ranks throw the error
/// of the lowest of these ranks: a UsageError stays a UsageError, any other error becomes
/// a SharedError. So no rank exits alone while the other ranks wait for it. Blocks until
/// all ranks have called on_all_ranks().
void on_all_ranks(dist::ProcessGroup& group, const std::function<void()>& body);

/// Runs the body of main and returns the exit code: 0 for success, 1 for failure, 2 for
/// invalid options. Prints errors to stderr; only rank 0 prints a UsageError or
/// SharedError. Throws nothing: it is a failure, too, if a part of stdout could not be
/// written.
int run(const std::string& name, const std::function<void()>& body);

}  // namespace mini::training
