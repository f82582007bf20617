// mini simulate allreduce: the time and traffic of all-reduces on a simulated cluster.
//
//     # 1024 ranks, links 100Gbit,10us, seed 0
//     algorithm           size    virtual us    formula us   messages       bytes  wall s
//     ring             1048576      20629.83      20627.83    2095104  2145386496    1.61
//
//     virtual us     virtual time until the last rank is done (cluster.hpp)
//     formula us     time by the alpha-beta model (all_reduce_time.hpp); "-" if the model
//                    does not apply
//     messages       of all ranks together
//     bytes          payload of these messages
//     wall s         real time of the simulation

#include <fmt/core.h>

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
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/scaling/all_reduce_on_links.hpp"
#include "libmini/extras/scaling/simulate.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/program/sizes.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::scaling {
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
    std::string format = "table";
};

dist::ClusterOptions cluster_of(const SimulateOptions& options) {
    return {.world_size = options.ranks,
            .links = dist::parse_links(options.link),
            .seed = options.seed};
}

struct SimulatedAllReduce {
    std::string algorithm;  // the algorithm that ran
    size_t bytes = 0;       // of one rank's buffer
    double seconds = 0;     // virtual time until the last rank is done

    /// The time according to all_reduce_seconds(), in seconds; std::nullopt if links
    /// differ, and for kAuto and kHierarchical.
    std::optional<double> formula;

    int64_t messages = 0, bytes_sent = 0;  // of all ranks together
    double wall_seconds = 0;               // real time of the simulation
};

std::optional<double> formula_of(dist::Algorithm algorithm, size_t bytes,
                                 const dist::ClusterOptions& cluster) {
    const dist::Links& links = cluster.links;
    const bool has_formula = links.ranks_per_host == 1 && links.rates.empty() &&
                             algorithm != dist::Algorithm::kHierarchical &&
                             algorithm != dist::Algorithm::kAuto;
    if (!has_formula) return std::nullopt;
    return seconds_on(links.network, algorithm, cluster.world_size, bytes);
}

SimulatedAllReduce simulate_all_reduce(dist::Algorithm algorithm, size_t bytes,
                                       dist::ClusterOptions cluster) {
    // Messages have no payload, so all ranks use the same tensor.
    cluster.has_payload = false;
    const auto hosts = dist::hosts_of(cluster.links, cluster.world_size);
    const dist::Call call{
        .operation = dist::Operation::kAllReduce,
        .outputs = {Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))})},
        .algorithm = algorithm};
    SimulatedAllReduce row;
    row.bytes = bytes;
    const auto start = std::chrono::steady_clock::now();
    const auto report = dist::run_cluster(cluster, [&](dist::Transport& transport) {
        const char* const ran = dist::run_over(transport, call, hosts);
        if (transport.rank() == 0) row.algorithm = ran;
    });
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    row.seconds = dist::seconds_of(report.time);
    row.formula = formula_of(algorithm, bytes, cluster);
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

void run(const SimulateOptions& options) {
    const std::vector<size_t> sizes = parse_sizes(options.sizes);
    const dist::ClusterOptions cluster = cluster_of(options);
    std::vector<dist::Algorithm> algorithms;  // report errors before the first row
    for (const std::string& name : options.algorithms)
        algorithms.push_back(dist::parse_algorithm(name));

    const bool as_table = options.format == "table";
    if (as_table) print_head(options);
    nlohmann::json rows = nlohmann::json::array();
    for (const size_t bytes : sizes)
        for (const dist::Algorithm algorithm : algorithms) {
            const SimulatedAllReduce row = simulate_all_reduce(algorithm, bytes, cluster);
            as_table ? print_row(row) : rows.push_back(json_of(row));
        }
    const nlohmann::json all = {{"ranks", options.ranks},
                                {"link", options.link},
                                {"seed", options.seed},
                                {"rows", rows}};
    if (!as_table) fmt::print("{}\n", all.dump());
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
    all_reduce.add("--format", o.format, "table or json").one_of({"table", "json"});
    all_reduce.on_parsed([options] { run(*options); });
}

}  // namespace mini::scaling
