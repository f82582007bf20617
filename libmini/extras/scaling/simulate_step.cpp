// mini simulate step: the time of a DistributedDataParallel step on a simulated cluster.
//
//     $ mini simulate step --ranks 256,1024
//     ranks cap MiB buckets compute ms  comm ms exposed ms  step ms efficiency  wall s
//       256      25       5     105.00    41.79       6.65   111.65     94.0 %    0.40
//      1024      25       5     105.00   118.64      48.68   153.68     68.3 %    8.83
//
//     compute ms     forward and backward of the slowest rank
//     comm ms        all-reduces of the buckets, each from its start on the last rank
//     exposed ms     part of the step after compute: communication that is not hidden
//     efficiency     time of a step on one rank / time of this step
//     wall s         real time of the simulation (the next column is the algorithm)
//
// The optimizer's step is not simulated, and communication does not slow down compute.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/extras/scaling/simulate.hpp"
#include "libmini/extras/scaling/step_options.hpp"

namespace mini::scaling {
namespace {

constexpr double kMilliseconds = 1e3;  // per second

struct StepRow {
    int ranks = 0;
    double cap_mb = 0;
    size_t buckets = 0;
    StepTimes times;
    double efficiency = 0;
    double wall_seconds = 0;
};

StepRow simulate_row(const StepPlan& plan, int ranks, double cap_mb) {
    StepCluster cluster = plan.cluster;
    cluster.ranks = ranks;
    const auto buckets = buckets_of(plan.profile, cap_mb);
    StepRow row{.ranks = ranks, .cap_mb = cap_mb, .buckets = buckets.size(), .times = {}};
    const auto start = std::chrono::steady_clock::now();
    row.times = simulate_step(plan.profile, buckets, cluster);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    row.wall_seconds = wall.count();
    const double alone = plan.profile.forward + plan.profile.backward;
    row.efficiency = row.times.step > 0 ? alone / row.times.step : 1.0;
    return row;
}

int64_t parameter_count(const StepProfile& profile) {
    int64_t bytes = 0;
    for (const training::GradientTime& gradient : profile.gradients)
        bytes += gradient.bytes;
    return bytes / static_cast<int64_t>(sizeof(float));
}

void print_head(const StepPlan& plan, const StepOptions& options) {
    fmt::print(
        "# {}: {} parameters in {} gradients; forward {:.2f} ms, backward {:.2f} ms\n",
        options.of.name(), with_commas(parameter_count(plan.profile)),
        plan.profile.gradients.size(), plan.profile.forward * kMilliseconds,
        plan.profile.backward * kMilliseconds);
    fmt::print("# links {}, algorithm {}, {}overlap, seed {}{}{}\n", options.link,
               options.algorithm, options.overlaps ? "" : "no ", options.seed,
               options.slow_ranks.empty() ? "" : ", slow ranks ",
               fmt::join(options.slow_ranks, ","));
    fmt::print("{:>6}{:>9}{:>9}{:>12}{:>10}{:>12}{:>10}{:>12}{:>9}  {}\n", "ranks",
               "cap MiB", "buckets", "compute ms", "comm ms", "exposed ms", "step ms",
               "efficiency", "wall s", "algorithm");
}

void print_row(const StepRow& row) {
    const StepTimes& t = row.times;
    fmt::print(
        "{:>6}{:>9g}{:>9}{:>12.2f}{:>10.2f}{:>12.2f}{:>10.2f}{:>10.1f} %{:>9.2f}  {}\n",
        row.ranks, row.cap_mb, row.buckets, t.compute * kMilliseconds,
        t.communication * kMilliseconds, t.exposed * kMilliseconds,
        t.step * kMilliseconds, 100 * row.efficiency, row.wall_seconds,
        t.algorithms.empty() ? "-" : fmt::format("{}", fmt::join(t.algorithms, ",")));
    std::fflush(stdout);  // the next row may take a while
}

nlohmann::json json_of(const StepRow& row) {
    return {{"ranks", row.ranks},
            {"bucket_cap_mb", row.cap_mb},
            {"buckets", row.buckets},
            {"algorithms", row.times.algorithms},
            {"compute_seconds", row.times.compute},
            {"communication_seconds", row.times.communication},
            {"exposed_seconds", row.times.exposed},
            {"step_seconds", row.times.step},
            {"efficiency", row.efficiency},
            {"wall_seconds", row.wall_seconds}};
}

nlohmann::json json_of(const StepPlan& plan, const StepOptions& options,
                       const std::vector<StepRow>& rows) {
    nlohmann::json json_rows = nlohmann::json::array();
    for (const StepRow& row : rows) json_rows.push_back(json_of(row));
    return {{"model", options.of.name()},
            {"parameters", parameter_count(plan.profile)},
            {"gradients", plan.profile.gradients.size()},
            {"forward_seconds", plan.profile.forward},
            {"backward_seconds", plan.profile.backward},
            {"link", options.link},
            {"algorithm", options.algorithm},
            {"overlap", options.overlaps},
            {"slow_ranks", options.slow_ranks},
            {"seed", options.seed},
            {"rows", json_rows}};
}

void run(const StepPlan& plan, const StepOptions& options) {
    const bool as_table = options.format == "table";
    if (as_table) print_head(plan, options);
    std::vector<StepRow> rows;
    for (const int ranks : options.ranks)
        for (const double cap_mb : plan.caps_mb) {
            rows.push_back(simulate_row(plan, ranks, cap_mb));
            if (as_table) print_row(rows.back());
        }
    if (!as_table) fmt::print("{}\n", json_of(plan, options, rows).dump());
}

}  // namespace

void add_simulate_step(Command& simulate) {
    Command step = simulate.add_command(
        "step",
        "A step of DistributedDataParallel: compute, communication, what overlaps");
    const auto options = std::make_shared<StepOptions>();
    add_step_options(step, *options);
    step.on_parsed([step, options] { run(plan_of(step, *options), *options); });
}

}  // namespace mini::scaling
