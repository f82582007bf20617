// kernel_counts: counts the memory traffic of libmini's kernels on the simulator.
//
//     kernel           loads   used   stores   used   shared  passes  worst  barriers ...
//     naive_kernel       512  52 %       16  100 %        0     1.0      0         0
//
//     loads, stores    warp instructions that access global memory
//     used             bytes used / bytes of the transferred sectors (32 bytes each)
//     shared           warp instructions that access shared memory
//     passes           passes over the banks / passes needed without bank conflicts
//     worst            most passes of an access that needs one pass without conflicts
//
// With --lines: the sectors and passes of each source line (cudasim/access_log.hpp).
// With --json: what NVIDIA's ncu counts too, for tests/gpu/run.py, which compares the two.

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "labs/06-cuda-kernels/kernel_samples.hpp"
#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/checker.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/program/command_line.hpp"

using namespace mini;

namespace {

std::string percent(const sim::Traffic& traffic) {
    return traffic.cost == 0 ? "-" : fmt::format("{:.0f} %", 100 * traffic.efficiency());
}

std::string passes(const sim::LaunchCounters& c) {
    const size_t least = c.shared_loads.least + c.shared_stores.least;
    const size_t rounds = c.shared_loads.cost + c.shared_stores.cost;
    return least == 0 ? "-"
                      : fmt::format("{:.1f}", static_cast<double>(rounds) /
                                                  static_cast<double>(least));
}

std::string extents(dim3 grid, dim3 block) {
    return fmt::format("{} x {}", grid.x * grid.y * grid.z, block.x * block.y * block.z);
}

// Returns the counters as a table, one line per launch.
std::string counters_table(const std::vector<sim::LaunchCounters>& launches) {
    size_t width = 6;
    for (const auto& each : launches) width = std::max(width, each.kernel.size());
    std::string table = fmt::format(
        "{:<{}}  {:>12}  {:>6} {:>6}  {:>6} {:>6}  {:>6} {:>6} {:>5}  {:>8} {:>7} "
        "{:>7}\n",
        "kernel", width, "grid x block", "loads", "used", "stores", "used", "shared",
        "passes", "worst", "barriers", "atomics", "partial");
    for (const sim::LaunchCounters& c : launches)
        table += fmt::format(
            "{:<{}}  {:>12}  {:>6} {:>6}  {:>6} {:>6}  {:>6} {:>6} {:>5}  {:>8} {:>7} "
            "{:>7}\n",
            c.kernel, width, extents(c.grid, c.block), c.global_loads.instructions,
            percent(c.global_loads), c.global_stores.instructions,
            percent(c.global_stores),
            c.shared_loads.instructions + c.shared_stores.instructions, passes(c),
            std::max(c.shared_loads.worst, c.shared_stores.worst), c.barriers, c.atomics,
            c.global_loads.partial + c.global_stores.partial);
    return table;
}

// Returns the counters of the launches from `first` on.
nlohmann::ordered_json counters_json(const std::vector<sim::LaunchCounters>& launches,
                                     size_t first) {
    auto json = nlohmann::ordered_json::array();
    for (size_t i = first; i < launches.size(); ++i) {
        const sim::LaunchCounters& c = launches[i];
        json.push_back({{"kernel", c.kernel},
                        {"grid", c.grid.x * c.grid.y * c.grid.z},
                        {"block", c.block.x * c.block.y * c.block.z},
                        {"load_sectors", c.global_loads.cost},
                        {"store_sectors", c.global_stores.cost},
                        {"shared_load_passes", c.shared_loads.cost},
                        {"shared_store_passes", c.shared_stores.cost}});
    }
    return json;
}

// Returns the traffic of each source line of each launch.
std::string lines_text(const std::vector<sim::LaunchCounters>& launches) {
    std::string text;
    for (const sim::LaunchCounters& launch : launches) {
        text += launch.kernel + "\n";
        for (const sim::LineTraffic& line : sim::traffic_by_line(launch))
            text += "  " + sim::describe(line) + "\n";
    }
    return text;
}

struct Options {
    std::vector<std::string> names;
    std::string json;
    bool list = false, lines = false;
};

void run(const Options& options) {
    sim::Counting counting;
    const auto& launches = counting.log().launches();
    nlohmann::ordered_json json;
    for (const labs::KernelSample& sample : labs::chosen_samples(options.names)) {
        const size_t first = launches.size();
        sample.run();
        json[sample.name] = counters_json(launches, first);
    }
    fmt::print("{}", options.lines ? lines_text(launches) : counters_table(launches));
    if (options.json.empty()) return;
    std::ofstream file(options.json);
    file << json.dump(2) << "\n";
    file.close();
    MINI_CHECK(file, "cannot write ", options.json);
}

}  // namespace

int main(int argc, char** argv) try {
    Options o;
    CommandLine line("Counts the memory traffic of kernels, on the simulator.",
                     "kernel_counts");
    line.add("NAME", o.names, "Samples to run (all)");
    line.add("--json", o.json, "Write the counters of each launch to a file");
    line.add_flag("--list", o.list, "List the samples, and run none");
    line.add_flag("--lines", o.lines, "Print the traffic of each source line");
    if (!line.parse(argc, argv)) return 0;
    if (!o.list) run(o);
    if (o.list)
        for (const auto& sample : labs::kernel_samples()) fmt::print("{}\n", sample.name);
    return 0;
} catch (const UsageError& error) {
    fmt::print(stderr, "kernel_counts: {}\n", error.what());
    return 2;
} catch (const std::exception& error) {
    fmt::print(stderr, "kernel_counts: {}\n", error.what());
    return 1;
}
