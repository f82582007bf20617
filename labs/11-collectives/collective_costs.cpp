// The costs of each all-reduce: messages, bytes and virtual time on the simulated
// cluster, and whether the results of all ranks are bitwise identical.
//
//     collective_costs [--ranks 4] [--bytes 400] [--link 100Gbit,10us]
//
// `tutorial` is the ring of PyTorch's tutorial (tutorial_ring.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "labs/11-collectives/tutorial_ring.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/program/command_line.hpp"

using namespace mini;
using namespace mini::dist;

namespace {

using Values = std::vector<float>;
using AllReduce = std::function<void(Transport&, std::span<float>)>;

struct Options {
    int ranks = 4;
    uint64_t bytes = 400;
    std::string link = "100Gbit,10us";
};

struct Row {
    std::string name;
    AllReduce all_reduce;
};

AllReduce of(void (*all_reduce)(Transport&, Elements, ReduceOp)) {
    return [all_reduce](Transport& transport, std::span<float> data) {
        all_reduce(transport, Elements(data), ReduceOp::kSum);
    };
}

std::vector<Row> rows() {
    return {{"naive", of(naive_all_reduce)},
            {"tree", of(tree_all_reduce)},
            {"ring", of(ring_all_reduce)},
            {"recursive-doubling", of(recursive_doubling_all_reduce)},
            {"halving-doubling", of(halving_doubling_all_reduce)},
            {"tutorial", first::tutorial_ring}};
}

// Numbers whose sum depends on the order of the additions.
Values values_of(int rank, size_t n) {
    Values values;
    for (size_t i = 0; i < n; ++i)
        values.push_back(
            std::sin(static_cast<float>(rank) * 1.7f + static_cast<float>(i)) * 1e3f);
    return values;
}

void print(const Row& row, const Options& options) {
    std::vector<Values> results(static_cast<size_t>(options.ranks));
    const auto report = run_cluster(
        {.world_size = options.ranks, .links = parse_links(options.link)},
        [&](SimulatedTransport& transport) {
            Values data = values_of(transport.rank(), options.bytes / sizeof(float));
            row.all_reduce(transport, data);
            results[static_cast<size_t>(transport.rank())] = data;
        });
    const auto most = [&](int64_t Traffic::*what) {
        return std::ranges::max(report.sent, {}, what).*what;
    };
    const bool are_equal = std::ranges::all_of(
        results, [&](const Values& one) { return one == results[0]; });
    std::cout << fmt::format("{:<20}{:>10}{:>14}{:>12.1f}   {}\n", row.name,
                             most(&Traffic::messages), most(&Traffic::bytes),
                             seconds_of(report.time) * 1e6,
                             are_equal ? "equal" : "different");
}

void run(const Options& options) {
    std::cout << fmt::format(
        "{} ranks, {} bytes each, {}; sent by the busiest rank\n\n"
        "{:<20}{:>10}{:>14}{:>12}   bits of the ranks\n",
        options.ranks, options.bytes, options.link, "algorithm", "messages", "bytes",
        "time in us");
    for (const Row& row : rows()) print(row, options);
    const LinkSpec link = parse_links(options.link).network;
    const Algorithm fastest = fastest_all_reduce(
        options.ranks, options.bytes, std::chrono::duration<double>(link.delay).count(),
        1 / link.bytes_per_second);
    std::cout << fmt::format("\nthe fastest by its formula: {}\n",
                             algorithm_name(fastest));
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CommandLine line("The costs of each all-reduce on the simulated cluster.",
                     "collective_costs");
    line.add("--ranks", options.ranks, "the number of ranks").at_least(1);
    line.add("--bytes", options.bytes, "the size of each rank's buffer");
    line.add("--link", options.link, "the network, as in \"100Gbit,10us\"");
    if (line.parse(argc, argv)) run(options);
    return 0;
} catch (const std::exception& error) {
    std::cerr << std::filesystem::path(argv[0]).filename().string() << ": "
              << error.what() << '\n';
    return 1;
}
