// The charts of the report, as SVG.

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/report/metrics.hpp"
#include "libmini/extras/report/trace.hpp"

namespace mini::report {

/// Returns the loss of each step, averaged over the ranks; a run of more than 200 steps
/// is shown by the means of equal groups of steps. Returns "" without a step.
std::string loss_chart(const Metrics& metrics);

/// Returns the test accuracy after each epoch; "" before the end of the first epoch.
std::string accuracy_chart(const Metrics& metrics);

/// Returns a bar for each rank: the median step time, by phase; "" without times.
std::string step_time_chart(const Metrics& metrics);

/// Returns the timeline of one step of all ranks as SVG, with a mark where a rank launches
/// a bucket: the traced step of median length on rank 0. Returns "" if no step was traced
/// on every rank.
std::string step_timeline(const std::vector<RankTrace>& traces);

}  // namespace mini::report
