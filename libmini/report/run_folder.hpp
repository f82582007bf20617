// The folder of a run, as `mini report` reads it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/report/evaluation.hpp"
#include "libmini/report/metrics.hpp"
#include "libmini/report/trace.hpp"

namespace mini::report {

/// The training samples of the last epoch.
struct Samples {
    int64_t size = 0;
    int64_t repeated = 0;        // seen more than once
    int64_t unseen = 0;          // seen by no rank
    std::vector<int64_t> ranks;  // samples of each rank
    std::string png;             // the picture of samples.hpp
};

/// What a run has recorded.
struct RunFolder {
    std::string name;  // the last part of the path
    Metrics metrics;
    std::vector<RankTrace> trace;  // empty before the end of the first epoch
    std::optional<Evaluation> evaluation;
    std::optional<Samples> samples;
};

/// Reads a run's folder. Throws BadFile, naming the file, if metrics.jsonl is missing or
/// a file is damaged; the other files are missing before the end of the first epoch.
RunFolder read_run(const std::string& folder);

}  // namespace mini::report
