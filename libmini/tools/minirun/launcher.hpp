// From the command line to the end of the job: makes the job, runs it, and restarts it
// when a rank failed and --max-restarts allows it.
//
//     run 3f2a     port 40311     TORCHELASTIC_RESTART_COUNT=0     rank 1 fails
//     run 3f2a.1   port 38775     TORCHELASTIC_RESTART_COUNT=1     ...
//
// A new port and a new run id keep whatever is left of the last run out of this one.

#pragma once

#include <string>

#include "libmini/tools/minirun/environment.hpp"
#include "libmini/tools/minirun/options.hpp"

namespace mini::tools {

/// The job as all nodes see it; port 0 when it is yet to be chosen. Throws UsageError
/// when several nodes have no secret in common.
Job plan_job(const Options& options);

/// What --dry-run prints: a line for each rank, to be pasted into a shell.
std::string dry_run(const Options& options, const Job& job);

/// Runs the job and returns minirun's exit code.
int launch(const Options& options);

}  // namespace mini::tools
