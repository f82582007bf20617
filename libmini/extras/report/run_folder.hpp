// The folder of a run, as `mini report` reads it.

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/report/metrics.hpp"
#include "libmini/extras/report/trace.hpp"

namespace mini::report {

/// What a run has recorded.
struct RunFolder {
    std::string name;  // the last part of the path
    Metrics metrics;
    std::vector<RankTrace> trace;  // empty before the end of the first epoch
};

/// Reads a run's folder. Throws BadFile, naming the file, if metrics.jsonl is missing or
/// trace.json is damaged; trace.json is missing before the end of the first epoch.
RunFolder read_run(const std::string& folder);

}  // namespace mini::report
