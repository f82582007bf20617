// The ranks of mini bench allreduce: processes that it forks, or threads.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini::tools {

/// One line of the table of mini bench allreduce; see bench.hpp.
struct BenchRow {
    size_t bytes = 0;
    double microseconds = 0;  // of one all-reduce, the median over batches of them
    size_t wrong = 0;         // elements, of all ranks, in one that was looked at

    double algbw() const;  // GB/s
    double busbw(int world_size) const;
};

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
