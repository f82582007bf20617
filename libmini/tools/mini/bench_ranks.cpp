#include "libmini/tools/mini/bench_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "libmini/core/error.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/distributed/launch/spawn.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::tools {
namespace {

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

}  // namespace

double BenchRow::algbw() const { return static_cast<double>(bytes) / microseconds / 1e3; }

double BenchRow::busbw(int world_size) const {
    return algbw() * 2 * (world_size - 1) / world_size;
}

void find_ranks(BenchOptions& options) {
    const auto launched = dist::read_rank_variables(dist::environment_variable);
    if (!launched || launched->world_size == 1) {
        if (options.ranks == 0) options.ranks = 2;
        return;
    }
    if (options.backend == "threads")
        throw UsageError(concat("--backend threads has its ranks in one process, but ",
                                launched->source, " has started ", launched->world_size,
                                "; start mini without it"));
    if (options.ranks != 0 && options.ranks != launched->world_size)
        throw UsageError(concat("--ranks is ", options.ranks, ", but ", launched->source,
                                " has started ", launched->world_size,
                                "; leave --ranks out"));
    options.ranks = launched->world_size;
    options.launched_rank = launched->rank;
}

void measure_all_reduce(const BenchOptions& options,
                        const std::function<void(const std::vector<BenchRow>&)>& report) {
    dist::parse_algorithm(options.algorithm);
    if (!dist::is_available(options.backend))
        throw UsageError(concat("this build has no backend \"", options.backend, "\""));
    if (!options.link.empty() && options.backend != "ring")
        throw UsageError(concat("--link is for --backend ring, not ", options.backend));
    if (options.backend == "threads") return report(measure_threads(options));
    const auto run = [&](int rank) {
        const auto rows = run_rank(options, rank);
        if (rank == 0) report(rows);
    };
    if (options.launched_rank >= 0) return run(options.launched_rank);
    dist::spawn(run, options.ranks);
}

}  // namespace mini::tools
