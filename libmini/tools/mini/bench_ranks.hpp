// The ranks of mini bench allreduce: forked processes, threads, or the ranks of minirun,
// mpirun or srun.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mini::tools {

/// One line of the table of mini bench allreduce; see bench.hpp.
struct BenchRow {
    size_t bytes = 0;
    double microseconds = 0;  // of one all-reduce, the median over batches
    size_t wrong = 0;         // wrong elements on all ranks, in one checked all-reduce

    double algbw() const;  // GB/s
    double busbw(int world_size) const;
};

struct BenchOptions {
    int ranks = 0;              // 0: those of the launcher; without a launcher 2
    int launched_rank = -1;     // this process's; -1: this process starts the ranks
    std::vector<size_t> sizes;  // bytes
    std::string algorithm = "auto";
    std::string medium = "auto";
    std::string backend = "ring";
    bool verify = true;    // compare calls across ranks
    std::string link;      // emulated link, e.g. 100Mbit,5ms; "": MINI_LINK, or none
    double seconds = 0.3;  // measuring time per size
};

/// Completes `ranks` and `launched_rank`: if a launcher has started several ranks of this
/// program, the benchmark uses these. Throws UsageError if options.ranks is another
/// number.
void find_ranks(BenchOptions& options);

/// Starts the ranks, unless a launcher has started them, measures each size, and calls
/// `report` on rank 0 with one row per size. Blocks until the started ranks have ended.
/// Throws Error if a rank or `report` fails, and UsageError for invalid options. REQUIRES: no
/// other thread is running.
void measure_all_reduce(const BenchOptions& options,
                        const std::function<void(const std::vector<BenchRow>&)>& report);

}  // namespace mini::tools
