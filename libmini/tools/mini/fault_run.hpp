// Plays jobs with faults on simulated processes.

#pragma once

#include <string>

#include "libmini/tools/mini/fault_check.hpp"
#include "libmini/tools/mini/fault_plan.hpp"

namespace mini::tools {

/// Plays a job; the same plan gives the same result.
FaultResult play(const FaultPlan& plan);

/// Returns the shortest job, by small steps from `plan`, that still goes wrong: fewer ranks,
/// fewer and smaller calls, an earlier fault. REQUIRES: play(plan) goes wrong.
FaultPlan shrink(const FaultPlan& plan);

/// The plan, how each rank ended, and what is wrong, line by line.
std::string story_of(const FaultPlan& plan, const FaultResult& result);

}  // namespace mini::tools
