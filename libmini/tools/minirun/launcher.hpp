// Runs a job from the parsed command line to its end, and restarts it if a rank fails and
// --max-restarts allows it.
//
//     run 3f2a     port 40311     TORCHELASTIC_RESTART_COUNT=0     rank 1 fails
//     run 3f2a.1   port 38775     TORCHELASTIC_RESTART_COUNT=1     ...
//
// A new port and a new run id keep leftover processes of the last run out of this one.

#pragma once

#include <functional>
#include <string>

#include "libmini/tools/minirun/environment.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/supervisor.hpp"

namespace mini::tools {

/// Returns the job, the same on all nodes except for `node_rank`; its port is 0 if it is
/// not chosen yet. Throws UsageError if several nodes have no common secret.
Job plan_job(const Options& options);

/// Calls run(job) for the first attempt, and again for each restart, until an outcome may
/// not be restarted or job.max_restarts restarts have been made. Returns the last
/// outcome's exit code. Each restart has a higher `job.restart_count` (first 1), and its
/// own `job.run_id`: job.log_name, a dot, and the restart count ("3f2a.1").
int run_with_restarts(Job job, const std::function<Outcome(Job& job)>& run);

/// Returns the output of --dry-run: one shell command per rank.
std::string dry_run(const Options& options, const Job& job);

/// Runs the job and returns minirun's exit code.
int launch(const Options& options);

}  // namespace mini::tools
