#include "libmini/tools/mini/simulate_allreduce.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/all_reduce_time.hpp"
#include "libmini/distributed/simulation/cluster.hpp"
#include "libmini/io/line_chart.hpp"
#include "libmini/tensor/tensor.hpp"
#include "libmini/tools/mini/bench_sizes.hpp"
#include "libmini/tools/mini/result_files.hpp"

namespace mini::tools {
namespace {

using dist::Algorithm;
using dist::seconds_of;

constexpr int kMaxSimulatedRanks = 16384;
constexpr double kMicroseconds = 1e6;  // in a second

struct SimulateOptions {
    int ranks = 64;
    std::string link = "100Gbit,10us";
    std::string sizes = "4:16M";
    std::vector<std::string> algorithms = {"ring", "tree", "recursive-doubling",
                                           "halving-doubling"};
    uint64_t seed = 0;
    double combine_rate = 0;  // bytes a second; 0: combining takes no time
    std::string format = "table";
    ResultFiles files;
};

struct SimulatedRow {
    std::string algorithm;
    size_t bytes = 0;
    double seconds = 0;
    std::optional<double> formula;
    int64_t messages = 0;
    int64_t bytes_sent = 0;
    double wall_seconds = 0;
};

// The formula knows equal links, and no time to combine.
std::optional<double> formula_of(Algorithm algorithm, size_t bytes,
                                 const SimulateOptions& options,
                                 const dist::Links& links) {
    const bool has_formula =
        links.ranks_per_host == 1 && links.rates.empty() && options.combine_rate == 0 &&
        algorithm != Algorithm::kHierarchical && algorithm != Algorithm::kAuto;
    if (!has_formula) return std::nullopt;
    return dist::all_reduce_seconds(
        algorithm, options.ranks, bytes,
        std::chrono::duration<double>(links.network.delay).count(),
        1 / links.network.bytes_per_second);
}

SimulatedRow simulate(const std::string& name, size_t bytes,
                      const SimulateOptions& options) {
    const Algorithm algorithm = dist::parse_algorithm(name);
    dist::ClusterOptions cluster{.world_size = options.ranks,
                                 .links = dist::parse_links(options.link),
                                 .seed = options.seed};
    cluster.has_payload = false;
    if (options.combine_rate > 0)
        cluster.combine_per_byte =
            std::chrono::duration<double>(1 / options.combine_rate);

    // Messages are sizes alone, so all ranks use one tensor.
    const auto hosts = dist::hosts_of(cluster.links, options.ranks);
    const dist::Call call{
        .operation = dist::Operation::kAllReduce,
        .outputs = {Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))})},
        .algorithm = algorithm};
    SimulatedRow row;
    row.bytes = bytes;
    const auto start = std::chrono::steady_clock::now();
    const auto report = dist::run_cluster(cluster, [&](dist::Transport& transport) {
        const char* const ran = dist::run_over(transport, call, hosts);
        if (transport.rank() == 0) row.algorithm = ran;
    });
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    row.seconds = seconds_of(report.time);
    row.formula = formula_of(algorithm, bytes, options, cluster.links);
    row.wall_seconds = wall.count();
    for (const dist::Traffic& sent : report.sent) {
        row.messages += sent.messages;
        row.bytes_sent += sent.bytes;
    }
    return row;
}

void print_head(const SimulateOptions& options) {
    fmt::print("# {} ranks, links {}, seed {}\n", options.ranks, options.link,
               options.seed);
    fmt::print("{:<20}{:>12}{:>15}{:>15}{:>12}{:>16}{:>9}\n", "algorithm", "size",
               "virtual us", "formula us", "messages", "bytes", "wall s");
}

void print_row(const SimulatedRow& row) {
    const std::string formula =
        row.formula ? fmt::format("{:.2f}", *row.formula * kMicroseconds) : "-";
    fmt::print("{:<20}{:>12}{:>15.2f}{:>15}{:>12}{:>16}{:>9.2f}\n", row.algorithm,
               row.bytes, row.seconds * kMicroseconds, formula, row.messages,
               row.bytes_sent, row.wall_seconds);
    std::fflush(stdout);  // the next row may take a while
}

nlohmann::json json_of(const SimulatedRow& row) {
    nlohmann::json json = {
        {"algorithm", row.algorithm}, {"size", row.bytes},
        {"seconds", row.seconds},     {"messages", row.messages},
        {"bytes", row.bytes_sent},    {"wall_seconds", row.wall_seconds}};
    json["formula_seconds"] = nullptr;
    if (row.formula) json["formula_seconds"] = *row.formula;
    return json;
}

// One line per algorithm, of time against size. An algorithm that kAuto chose has its name.
io::LineChart chart_of(const std::vector<SimulatedRow>& rows,
                       const SimulateOptions& options) {
    io::LineChart chart;
    chart.title =
        fmt::format("all-reduce on {} ranks, links {}", options.ranks, options.link);
    chart.x = {.label = "size (bytes)", .is_log = true, .from_zero = false, .ticks = {}};
    chart.y = {.label = "time (us)", .is_log = true, .from_zero = false, .ticks = {}};
    for (const SimulatedRow& row : rows) {
        auto line = std::ranges::find(chart.lines, row.algorithm, &io::ChartLine::name);
        if (line == chart.lines.end())
            line = chart.lines.insert(line, {.name = row.algorithm, .points = {}});
        line->points.emplace_back(row.bytes, row.seconds * kMicroseconds);
    }
    return chart;
}

void run(SimulateOptions& options) {
    const std::vector<size_t> sizes = parse_sizes(options.sizes);
    for (const std::string& algorithm : options.algorithms)
        dist::parse_algorithm(algorithm);  // errors come before the first row
    dist::parse_links(options.link);
    options.files.open();

    const bool as_table = options.format == "table" && !options.files.replaces_table();
    if (as_table) print_head(options);
    std::vector<SimulatedRow> rows;
    nlohmann::json json_rows = nlohmann::json::array();
    for (const size_t bytes : sizes)
        for (const std::string& algorithm : options.algorithms) {
            rows.push_back(simulate(algorithm, bytes, options));
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
        "All-reduce of float32: times, messages and bytes beside the formulas");
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
