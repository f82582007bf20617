// What a program that trains has around its main: how its ranks meet, how an error of one becomes
// an error of all, and which exit code comes of it.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::training {

/// What a launcher (minirun, torchrun, mpirun, srun) says of this process; nothing when it was
/// started without one. Throws UsageError for variables that contradict each other.
std::optional<dist::RankVariables> launcher();

/// Meets the other ranks; a process that no launcher started is the only one. Blocks.
std::shared_ptr<dist::ProcessGroup> join_group();

/// An error that all ranks throw alike, so that rank 0 may speak for all of them.
class SharedError : public Error {
  public:
    using Error::Error;
};

/// Calls `body` on every rank. When it throws on any, all throw what the first of these ranks
/// threw, as a UsageError or else as a SharedError: a rank that ended alone would leave the
/// others waiting. Blocks until all ranks have come here.
void on_all_ranks(dist::ProcessGroup& group, const std::function<void()>& body);

/// Runs the body of main, and returns its exit code: 0 done, 1 failed, 2 the options make no
/// sense. Errors are written to stderr; those that are the same on all ranks by rank 0 alone.
int run(const std::string& name, const std::function<void()>& body);

}  // namespace mini::training
