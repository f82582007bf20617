#include "libmini/tools/mini/simulate_allreduce.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/io/chart.hpp"
#include "libmini/tools/mini/bench_sizes.hpp"
#include "libmini/tools/mini/result_files.hpp"
#include "libmini/tools/mini/simulated_all_reduce.hpp"

namespace mini::tools {
namespace {

constexpr int kMaxSimulatedRanks = 16384;
constexpr double kMicroseconds = 1e6;  // per second

struct SimulateOptions {
    int ranks = 64;
    std::string link = "100Gbit,10us";
    std::string sizes = "4:16M";
    std::vector<std::string> algorithms = {"ring", "tree", "recursive-doubling",
                                           "halving-doubling"};
    uint64_t seed = 0;
    double combine_rate = 0;  // bytes per second; 0: combining takes no time
    std::string format = "table";
    ResultFiles files;
};

dist::ClusterOptions cluster_of(const SimulateOptions& options) {
    dist::ClusterOptions cluster{.world_size = options.ranks,
                                 .links = dist::parse_links(options.link),
                                 .seed = options.seed};
    if (options.combine_rate > 0)
        cluster.combine_per_byte =
            std::chrono::duration<double>(1 / options.combine_rate);
    return cluster;
}

void print_head(const SimulateOptions& options) {
    fmt::print("# {} ranks, links {}, seed {}\n", options.ranks, options.link,
               options.seed);
    fmt::print("{:<20}{:>12}{:>15}{:>15}{:>12}{:>16}{:>9}\n", "algorithm", "size",
               "virtual us", "formula us", "messages", "bytes", "wall s");
}

void print_row(const SimulatedAllReduce& row) {
    const std::string formula =
        row.formula ? fmt::format("{:.2f}", *row.formula * kMicroseconds) : "-";
    fmt::print("{:<20}{:>12}{:>15.2f}{:>15}{:>12}{:>16}{:>9.2f}\n", row.algorithm,
               row.bytes, row.seconds * kMicroseconds, formula, row.messages,
               row.bytes_sent, row.wall_seconds);
    std::fflush(stdout);  // the next row may take a while
}

nlohmann::json json_of(const SimulatedAllReduce& row) {
    nlohmann::json json = {
        {"algorithm", row.algorithm}, {"size", row.bytes},
        {"seconds", row.seconds},     {"messages", row.messages},
        {"bytes", row.bytes_sent},    {"wall_seconds", row.wall_seconds}};
    json["formula_seconds"] = nullptr;
    if (row.formula) json["formula_seconds"] = *row.formula;
    return json;
}

// Returns a size in the format of --sizes: "64K".
std::string size_text(size_t bytes) {
    constexpr size_t kFactor = 1024;
    std::string unit;
    for (const char* const next : {"K", "M", "G"}) {
        if (bytes % kFactor != 0) break;
        bytes /= kFactor;
        unit = next;
    }
    return fmt::format("{}{}", bytes, unit);
}

// Returns a chart of time against size with one line per algorithm. For kAuto, a line has
// the name of the algorithm that was chosen.
io::LineChart chart_of(const std::vector<SimulatedAllReduce>& rows,
                       const SimulateOptions& options) {
    io::LineChart chart;
    chart.text.title =
        fmt::format("all-reduce on {} ranks, links {}", options.ranks, options.link);
    chart.x = {.label = "size (bytes)", .is_log = true};
    chart.y = {.label = "time (us)", .is_log = true};
    for (const SimulatedAllReduce& row : rows) {
        auto line =
            std::ranges::find(chart.series, row.algorithm, &io::ChartSeries::name);
        if (line == chart.series.end())
            line = chart.series.insert(line, {.name = row.algorithm});
        const auto size = static_cast<double>(row.bytes);
        line->points.push_back({.x = size, .y = row.seconds * kMicroseconds});
        if (std::ranges::find(chart.x.ticks, size, &io::ChartTick::value) ==
            chart.x.ticks.end())
            chart.x.ticks.push_back({size, size_text(row.bytes)});
    }
    return chart;
}

void run(SimulateOptions& options) {
    const std::vector<size_t> sizes = parse_sizes(options.sizes);
    const dist::ClusterOptions cluster = cluster_of(options);
    std::vector<dist::Algorithm> algorithms;  // report errors before the first row
    for (const std::string& name : options.algorithms)
        algorithms.push_back(dist::parse_algorithm(name));
    options.files.open();

    const bool as_table = options.format == "table" && !options.files.replaces_table();
    if (as_table) print_head(options);
    std::vector<SimulatedAllReduce> rows;
    nlohmann::json json_rows = nlohmann::json::array();
    for (const size_t bytes : sizes)
        for (const dist::Algorithm algorithm : algorithms) {
            rows.push_back(simulate_all_reduce(algorithm, bytes, cluster));
            if (as_table) print_row(rows.back());
            json_rows.push_back(json_of(rows.back()));
        }
    const nlohmann::json all = {{"ranks", options.ranks},
                                {"link", options.link},
                                {"seed", options.seed},
                                {"rows", json_rows}};
    if (options.format == "json") fmt::print("{}\n", all.dump());
    options.files.write(all, [&] { return chart_of(rows, options); });
}

}  // namespace

void add_simulate_all_reduce(Command& simulate) {
    Command all_reduce = simulate.add_command(
        "allreduce",
        "All-reduce of float32: times, messages and bytes, compared with the formulas");
    const auto options = std::make_shared<SimulateOptions>();
    SimulateOptions& o = *options;
    all_reduce.add("--ranks", o.ranks, "How many (64)").range(1, kMaxSimulatedRanks);
    all_reduce.add(
        "--link", o.link,
        "Rate and delay, as 100Gbit,10us; \"...; hosts of 8: 800Gbit,1us\" adds "
        "hosts, \"...; rank 3 at 0.25\" a slow rank");
    all_reduce.add("--sizes", o.sizes, "FIRST:LAST, or a list (4:16M)");
    all_reduce
        .add("--algorithm", o.algorithms,
             "Several with commas: auto, naive, tree, ring, halving-doubling, ...")
        .split_at(',');
    all_reduce.add("--seed", o.seed, "Which order of ranks that are ready at one time");
    all_reduce
        .add("--combine-rate", o.combine_rate,
             "Bytes a second that a rank combines; 0: in no time")
        .not_negative();
    all_reduce.add("--format", o.format, "table or json").one_of({"table", "json"});
    o.files.add_options(all_reduce, "time against size, a line per algorithm");
    all_reduce.on_parsed([options] { run(*options); });
}

}  // namespace mini::tools
