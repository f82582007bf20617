// Runs jobs with faults on simulated processes.

#pragma once

#include <string>

#include "tests/faults/search/fault_check.hpp"
#include "tests/faults/search/fault_plan.hpp"

namespace mini::test {

/// Runs a job and returns its checked result. The same plan gives the same result. Blocks
/// until the job has ended.
FaultResult play(const FaultPlan& plan);

/// Returns the plan, the end of each rank, and the error, if any, line by line.
std::string story_of(const FaultPlan& plan, const FaultResult& result);

}  // namespace mini::test
