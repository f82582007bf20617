// The ranks of mini bench allreduce: processes that it forks, or threads.

#pragma once

#include <string>
#include <vector>

#include "libmini/tools/mini/bench.hpp"

namespace mini::tools {

struct BenchOptions {
    int ranks = 2;
    std::vector<size_t> sizes;  // bytes
    std::string algorithm = "auto";
    std::string medium = "auto";
    std::string backend = "ring";
    bool verify = true;    // compare calls across ranks
    double seconds = 0.3;  // for each size
};

/// Starts the ranks, measures each size and ends them again; blocks until then. Throws
/// Error when a rank fails. REQUIRES: no thread is running.
std::vector<BenchRow> measure_all_reduce(const BenchOptions& options);

}  // namespace mini::tools
