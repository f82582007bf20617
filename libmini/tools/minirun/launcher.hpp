// Runs a job from the parsed command line to its end, and restarts it if a rank fails and
// --max-restarts allows it.
//
//     run 3f2a     port 40311     TORCHELASTIC_RESTART_COUNT=0     rank 1 fails
//     run 3f2a.1   port 38775     TORCHELASTIC_RESTART_COUNT=1     ...
//
// Each restart uses a new run id and, unless the port is given, a new port, so that
// leftover processes of the last run cannot join.

#pragma once

#include <functional>
#include <string>

#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/supervisor.hpp"

namespace mini::tools {

/// Returns the job that `options` describe. Nodes with the same secret get the same run
/// id and cookie. `master_port` is 0 if the port is not chosen yet. Throws UsageError if
/// several nodes have no common secret.
dist::Job plan_job(const Options& options);

/// Calls run(job) for the first attempt, and again for each restart, until an outcome has
/// may_be_restarted == false or job.max_restarts restarts have been made. Returns the
/// exit code of the last outcome. Restart r = 1, 2, ... has `job.restart_count` r and its
/// own `job.run_id`: job.log_name, a dot, and r ("3f2a.1").
int run_with_restarts(dist::Job job, const std::function<Outcome(dist::Job& job)>& run);

/// Runs the job and returns minirun's exit code.
int launch(const Options& options);

}  // namespace mini::tools
