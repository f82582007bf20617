// The ranks of mini bench allreduce: processes that it forks, or threads.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini::tools {

/// One line of the table of mini bench allreduce; see bench.hpp.
struct BenchRow {
    size_t bytes = 0;
    double microseconds = 0;  // of one all-reduce, the median over batches
    size_t wrong = 0;         // wrong elements of all ranks, in one checked all-reduce

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
    std::string link;      // to emulate, as 100Mbit,5ms; "": none, or MINI_LINK
    double seconds = 0.3;  // measuring time per size
};

/// Starts the ranks, measures each size, and ends the ranks; blocks until they have
/// ended. Throws Error if a rank fails. REQUIRES: no other thread is running.
std::vector<BenchRow> measure_all_reduce(const BenchOptions& options);

}  // namespace mini::tools
