// mini bench allreduce: the time of an all-reduce, in the columns of nccl-tests. The ranks
// are forked processes, threads, or the ranks of minirun, mpirun or srun.
//
//     size      bytes of one rank's tensor
//     algbw     size / time
//     busbw     algbw * 2(P-1)/P: bytes that each rank sends / time; comparable across
//               world sizes, and with the bandwidth of a link

#include "libmini/tools/mini/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/distributed/launch/spawn.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/program/sizes.hpp"

namespace mini::tools {
namespace {

// One line of the table.
struct BenchRow {
    size_t bytes = 0;
    double microseconds = 0;  // of one all-reduce, the median over batches
    size_t wrong = 0;         // wrong elements on all ranks, in one checked all-reduce

    double algbw() const {  // GB/s
        return static_cast<double>(bytes) / microseconds / 1e3;
    }
    double busbw(int world_size) const {
        return algbw() * 2 * (world_size - 1) / world_size;
    }
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

using Clock = std::chrono::steady_clock;
constexpr int kBatches = 9;
constexpr int kMaxInABatch = 20'000;

double microseconds_of(int repeats, const std::function<void()>& body) {
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) body();
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    return time.count() / repeats;
}

// Runs one all-reduce and returns the number of wrong elements on all ranks together.
size_t count_wrong(dist::ProcessGroup& group, Tensor& data, dist::Algorithm algorithm) {
    float* const values = data.data<float>();
    const int P = group.world_size();
    for (int64_t i = 0; i < data.numel(); ++i)
        values[i] = static_cast<float>(group.rank() + i % 7);
    group.all_reduce(data, dist::ReduceOp::kSum, algorithm);
    int64_t wrong = 0;
    for (int64_t i = 0; i < data.numel(); ++i)
        wrong += values[i] != static_cast<float>(P * (P - 1) / 2 + P * (i % 7));
    Tensor total = Tensor::full({1}, static_cast<double>(wrong), DType::kInt64);
    group.all_reduce(total);
    return static_cast<size_t>(total.item());
}

BenchRow measure(dist::ProcessGroup& group, size_t bytes, const BenchOptions& options) {
    const auto algorithm = dist::parse_algorithm(options.algorithm);
    Tensor data = Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))});
    dist::share_memory(data);  // as DDP does with its buckets
    const auto all_reduce = [&] {
        group.all_reduce(data, dist::ReduceOp::kSum, algorithm);
    };

    // Warm up, and agree on the number of all-reduces per batch.
    microseconds_of(3, all_reduce);
    Tensor once = Tensor::full({1}, microseconds_of(5, all_reduce));
    group.all_reduce(once, dist::ReduceOp::kMax);
    const int repeats =
        std::clamp(static_cast<int>(options.seconds * 1e6 / kBatches / once.item()), 1,
                   kMaxInABatch);

    std::vector<double> times;
    for (int batch = 0; batch < kBatches; ++batch) {
        group.barrier();
        times.push_back(microseconds_of(repeats, all_reduce));
    }
    std::ranges::nth_element(times, times.begin() + kBatches / 2);
    return {bytes, times[kBatches / 2], count_wrong(group, data, algorithm)};
}

std::vector<BenchRow> measure_all(dist::ProcessGroup& group,
                                  const BenchOptions& options) {
    std::vector<BenchRow> rows;
    for (const size_t bytes : options.sizes)
        rows.push_back(measure(group, bytes, options));
    return rows;
}

std::vector<BenchRow> measure_threads(const BenchOptions& options) {
    std::vector<BenchRow> rows;
    dist::run_threads(options.ranks, [&](dist::ProcessGroup& group) {
        auto mine = measure_all(group, options);
        if (group.rank() == 0) rows = std::move(mine);
    });
    return rows;
}

std::vector<BenchRow> run_rank(const BenchOptions& options, int rank) {
    const auto group = dist::init_process_group(
        {.backend = options.backend,
         .init_method = "env://",
         .rank = rank,
         .world_size = options.ranks,
         .timeout = std::chrono::minutes(2),
         .medium = options.medium == "tcp" ? dist::Medium::kTcp : dist::Medium::kAuto,
         .verify = options.verify,
         .link = options.link});
    auto rows = measure_all(*group, options);
    dist::destroy_process_group();
    return rows;
}

// Completes `ranks` and `launched_rank`: if a launcher has started several ranks of this
// program, the benchmark uses these. Throws UsageError if options.ranks is another number.
void find_ranks(BenchOptions& options) {
    const auto launched = dist::read_rank_variables();
    if (!launched || launched->world_size == 1) {
        if (options.ranks == 0) options.ranks = 2;
        return;
    }
    if (options.backend == "threads")
        throw UsageError("--backend threads has its ranks in one process, but ",
                         launched->source, " has started ", launched->world_size,
                         "; start mini without it");
    if (options.ranks != 0 && options.ranks != launched->world_size)
        throw UsageError("--ranks is ", options.ranks, ", but ", launched->source,
                         " has started ", launched->world_size, "; leave --ranks out");
    options.ranks = launched->world_size;
    options.launched_rank = launched->rank;
}

// Starts the ranks, unless a launcher has started them, measures each size, and calls
// `report` on rank 0 with one row per size. Blocks until the started ranks have ended.
// REQUIRES: no other thread is running.
void measure_all_reduce(const BenchOptions& options,
                        const std::function<void(const std::vector<BenchRow>&)>& report) {
    dist::parse_algorithm(options.algorithm);
    if (!dist::is_available(options.backend))
        throw UsageError("this build has no backend \"", options.backend, "\"");
    if (!options.link.empty() && options.backend != "ring")
        throw UsageError("--link is for --backend ring, not ", options.backend);
    if (options.backend == "threads") return report(measure_threads(options));
    const auto run = [&](int rank) {
        const auto rows = run_rank(options, rank);
        if (rank == 0) report(rows);
    };
    if (options.launched_rank >= 0) return run(options.launched_rank);
    dist::spawn(run, options.ranks);
}

void print_table(const BenchOptions& options, const std::vector<BenchRow>& rows) {
    fmt::print("# {} ranks, backend {}, medium {}, algorithm {}{}\n", options.ranks,
               options.backend, options.medium, options.algorithm,
               options.link.empty() ? "" : ", link " + options.link);
    fmt::print("#{:>11} {:>10} {:>6} {:>5} {:>10} {:>7} {:>7} {:>6}\n", "size", "count",
               "type", "redop", "time", "algbw", "busbw", "#wrong");
    fmt::print("#{:>11} {:>10} {:>6} {:>5} {:>10} {:>7} {:>7}\n", "(B)", "(elements)", "",
               "", "(us)", "(GB/s)", "(GB/s)");
    for (const BenchRow& row : rows)
        fmt::print("{:>12} {:>10} {:>6} {:>5} {:>10.2f} {:>7.2f} {:>7.2f} {:>6}\n",
                   row.bytes, row.bytes / sizeof(float), "float", "sum", row.microseconds,
                   row.algbw(), row.busbw(options.ranks), row.wrong);
}

void print_json(const BenchOptions& options, const std::vector<BenchRow>& rows) {
    nlohmann::json list = nlohmann::json::array();
    for (const BenchRow& row : rows)
        list.push_back({{"size", row.bytes},
                        {"count", row.bytes / sizeof(float)},
                        {"type", "float"},
                        {"redop", "sum"},
                        {"time_us", row.microseconds},
                        {"algbw", row.algbw()},
                        {"busbw", row.busbw(options.ranks)},
                        {"wrong", row.wrong}});
    const nlohmann::json all = {
        {"ranks", options.ranks},   {"backend", options.backend},
        {"medium", options.medium}, {"algorithm", options.algorithm},
        {"link", options.link},     {"rows", list}};
    fmt::print("{}\n", all.dump());
}

void run(const BenchOptions& options, const std::string& format) {
    measure_all_reduce(options, [&](const std::vector<BenchRow>& rows) {
        format == "json" ? print_json(options, rows) : print_table(options, rows);
        std::fflush(stdout);  // rank 0 may be a forked process
        size_t wrong = 0;
        for (const BenchRow& row : rows) wrong += row.wrong;
        MINI_CHECK(wrong == 0, "bench allreduce: ", wrong, " elements were wrong");
    });
}

}  // namespace

void add_bench(Command& mini) {
    Command bench = mini.add_command("bench", "Measures this machine");
    bench.require_command();
    Command all_reduce = bench.add_command(
        "allreduce", "All-reduce of float32, in the columns of nccl-tests");
    struct Arguments {
        BenchOptions options;
        std::string sizes = "4:100M", format = "table";
    };
    const auto arguments = std::make_shared<Arguments>();
    BenchOptions& o = arguments->options;
    all_reduce
        .add("--ranks", o.ranks,
             "Number of ranks (those of minirun, mpirun or srun, else 2)")
        .default_text("")
        .range(1, 512);
    all_reduce.add("--sizes", arguments->sizes, "FIRST:LAST, or a list");
    all_reduce.add("--algorithm", o.algorithm, "auto, ring, tree, naive, ...");
    all_reduce.add("--medium", o.medium, "How messages travel").one_of({"auto", "tcp"});
    all_reduce.add("--backend", o.backend, "ring (processes), threads, ...");
    all_reduce.add("--link", o.link, "Emulates a network between the ranks: 100Mbit,5ms");
    all_reduce.add_flag("!--no-verify", o.verify, "Do not compare calls across ranks");
    all_reduce.add("--seconds", o.seconds, "Measuring time per size").at_least(1e-9);
    all_reduce.add("--format", arguments->format, "The form of the output")
        .one_of({"table", "json"});
    all_reduce.on_parsed([arguments] {
        arguments->options.sizes = parse_sizes(arguments->sizes);
        find_ranks(arguments->options);
        run(arguments->options, arguments->format);
    });
}

}  // namespace mini::tools
