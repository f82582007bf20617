// simulate allreduce: the time and traffic of all-reduces on a simulated cluster.
//
//     # 1024 ranks, links 100Gbit,10us
//     algorithm           size    virtual us    formula us   messages       bytes  wall s
//     ring             1048576      20629.83      20627.83    2095104  2145386496    1.61
//
//     virtual us     virtual time until the last rank is done (cluster.hpp)
//     formula us     time by the alpha-beta model (all_reduce_time.hpp); "-" if the model
//                    does not apply
//     messages       of all ranks together
//     bytes          payload of these messages
//     wall s         real time of the simulation
//
// simulate messages: the messages of one all-reduce, step by step.
//
//     # all-reduce by ring of 4 elements on 4 ranks: 24 messages in 6 steps
//     step   from     to   elements   sum of ranks
//        1      3      0          3   0, 3
//        1      0      1          0   0, 1

#include "labs/20-scaling-by-simulation/simulate.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/all_reduce_on_links.hpp"
#include "labs/20-scaling-by-simulation/traced_messages.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/program/sizes.hpp"
#include "libmini/tensor/tensor.hpp"
#include "libmini/training/program.hpp"

namespace mini::lab20 {
namespace {

// ---- allreduce

constexpr int kMaxSimulatedRanks = 16384;
constexpr double kMicroseconds = 1e6;  // per second

struct AllReduceOptions {
    int ranks = 64;
    std::string link = "100Gbit,10us";
    std::string sizes = "4:16M";
    std::vector<std::string> algorithms = {"ring", "tree", "recursive-doubling",
                                           "halving-doubling"};
    bool json = false;
};

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

std::optional<double> formula_of(dist::Algorithm algorithm, size_t bytes, int P,
                                 const dist::Links& links) {
    const bool has_formula = links.ranks_per_host == 1 && links.rates.empty() &&
                             algorithm != dist::Algorithm::kHierarchical &&
                             algorithm != dist::Algorithm::kAuto;
    if (!has_formula) return std::nullopt;
    return seconds_on(links.network, algorithm, P, bytes);
}

SimulatedAllReduce simulate_all_reduce(dist::Algorithm algorithm, size_t bytes, int P,
                                       const dist::Links& links) {
    // Messages have no payload, so all ranks use the same tensor.
    dist::ClusterOptions cluster{.world_size = P, .links = links};
    cluster.has_payload = false;
    const auto hosts = dist::hosts_of(links, P);
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
    row.formula = formula_of(algorithm, bytes, P, links);
    row.wall_seconds = wall.count();
    for (const dist::Traffic& sent : report.sent) {
        row.messages += sent.messages;
        row.bytes_sent += sent.bytes;
    }
    return row;
}

void print_head(const AllReduceOptions& options) {
    fmt::print("# {} ranks, links {}\n", options.ranks, options.link);
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

void run(const AllReduceOptions& options) {
    const std::vector<size_t> sizes = parse_sizes(options.sizes);
    const dist::Links links = dist::parse_links(options.link);
    std::vector<dist::Algorithm> algorithms;  // report errors before the first row
    for (const std::string& name : options.algorithms)
        algorithms.push_back(dist::parse_algorithm(name));

    if (!options.json) print_head(options);
    nlohmann::json rows = nlohmann::json::array();
    for (const size_t bytes : sizes)
        for (const dist::Algorithm algorithm : algorithms) {
            const auto row = simulate_all_reduce(algorithm, bytes, options.ranks, links);
            options.json ? rows.push_back(json_of(row)) : print_row(row);
        }
    if (options.json) fmt::print("{}\n", nlohmann::json{{"rows", rows}}.dump());
}

// ---- messages

struct MessagesOptions {
    std::string algorithm = "ring";
    int ranks = 4;
    bool json = false;
};

// Returns the ranks in a sum: {0, 2} for binary 101.
std::vector<int> ranks_in(uint32_t sum) {
    std::vector<int> ranks;
    for (int rank = 0; rank < kMaxTracedRanks; ++rank)
        if ((sum >> rank & 1) != 0) ranks.push_back(rank);
    return ranks;
}

void print_table(const std::vector<TracedMessage>& messages) {
    fmt::print("{:>4}{:>7}{:>7}{:>11}   {}\n", "step", "from", "to", "elements",
               "sum of ranks");
    for (const TracedMessage& message : messages)
        for (size_t i = 0; i < message.sums.size(); ++i)
            fmt::print("{:>4}{:>7}{:>7}{:>11}   {}\n", message.step, message.from,
                       message.to, message.first + i,
                       fmt::join(ranks_in(message.sums[i]), ", "));
}

void run(const MessagesOptions& options) {
    const int elements = options.ranks;
    const std::vector<TracedMessage> messages =
        trace_all_reduce(dist::parse_algorithm(options.algorithm), options.ranks,
                         static_cast<size_t>(elements));
    const int steps = messages.empty() ? 0 : messages.back().step;
    if (!options.json) {
        fmt::print(
            "# all-reduce by {} of {} elements on {} ranks: {} messages in {} steps\n",
            options.algorithm, elements, options.ranks, messages.size(), steps);
        print_table(messages);
        return;
    }
    nlohmann::json rows = nlohmann::json::array();
    for (const TracedMessage& message : messages)
        rows.push_back({{"step", message.step},
                        {"from", message.from},
                        {"to", message.to},
                        {"first", message.first},
                        {"combines", message.combines},
                        {"sums", message.sums}});
    fmt::print("{}\n", nlohmann::json{{"algorithm", options.algorithm},
                                      {"ranks", options.ranks},
                                      {"elements", elements},
                                      {"steps", steps},
                                      {"messages", rows}}
                           .dump());
}

}  // namespace

void add_all_reduce(Command& simulate) {
    Command all_reduce = simulate.add_command(
        "allreduce",
        "All-reduce of float32: times, messages and bytes, compared with the formulas");
    const auto options = std::make_shared<AllReduceOptions>();
    AllReduceOptions& o = *options;
    all_reduce.add("--ranks", o.ranks, "How many").range(1, kMaxSimulatedRanks);
    all_reduce.add(
        "--link", o.link,
        "Rate and delay, as 100Gbit,10us; \"...; hosts of 8: 800Gbit,1us\" adds "
        "hosts, \"...; rank 3 at 0.25\" a slow rank");
    all_reduce.add("--sizes", o.sizes, "FIRST:LAST, or a list");
    all_reduce
        .add("--algorithm", o.algorithms,
             "Several with commas: auto, naive, tree, ring, halving-doubling, ...")
        .split_at(',');
    all_reduce.add_flag("--json", o.json, "Print JSON");
    all_reduce.on_parsed([options] { run(*options); });
}

void add_messages(Command& simulate) {
    Command messages = simulate.add_command(
        "messages", "Every message of one all-reduce, and whose numbers it sums");
    const auto options = std::make_shared<MessagesOptions>();
    MessagesOptions& o = *options;
    messages.add("--ranks", o.ranks, "How many, with one element each")
        .range(1, kMaxTracedRanks);
    messages.add("--algorithm", o.algorithm, "Of the all-reduce")
        .one_of({"naive", "tree", "ring", "halving-doubling"});
    messages.add_flag("--json", o.json, "Print JSON");
    messages.on_parsed([options] { run(*options); });
}

}  // namespace mini::lab20

int main(int argc, char** argv) {
    return mini::training::run("simulate", [&] {
        mini::CommandLine line("Collectives and training steps on a simulated cluster.",
                               "simulate");
        line.require_command();
        mini::lab20::add_all_reduce(line);
        mini::lab20::add_messages(line);
        mini::lab20::add_step(line);
        mini::lab20::add_buckets(line);
        line.parse(argc, argv);
    });
}
