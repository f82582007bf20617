// report.html: a run as one page that needs no network.

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/report/metrics.hpp"
#include "libmini/extras/report/trace.hpp"

namespace mini::report {

/// What a run has recorded.
struct RunRecord {
    std::string name{};
    Metrics metrics{};
    std::vector<RankTrace> trace{};  // of all ranks
};

/// Returns the name of a run: the last part of its folder's path.
std::string run_name(const std::string& folder);

/// Returns the page of a run. What the run lacks, such as a trace, is left out.
std::string page_of(const RunRecord& run);

}  // namespace mini::report
