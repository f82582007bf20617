// Runs jobs with faults on simulated processes.

#pragma once

#include <string>

#include "libmini/tools/mini/fault_check.hpp"
#include "libmini/tools/mini/fault_plan.hpp"

namespace mini::tools {

/// Runs a job and returns its checked result. The same plan gives the same result. Blocks
/// until the job has ended.
FaultResult play(const FaultPlan& plan);

/// Returns a shorter job that still fails: replaces the job by the first failing job of
/// shorter(), until all jobs of shorter() end as required. REQUIRES: `plan` fails, so
/// that play(plan) returns an error.
FaultPlan shrink(const FaultPlan& plan);

/// Returns the plan, the end of each rank, and the error, if any, line by line.
std::string story_of(const FaultPlan& plan, const FaultResult& result);

}  // namespace mini::tools
