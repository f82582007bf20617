#include "libmini/tools/mini/kernels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/checker.hpp"
#include "libmini/extras/cudasim/line_traffic.hpp"

namespace mini::tools {
namespace {

constexpr size_t kMaxAccesses = 400'000;  // accesses in a picture

std::string percent(const sim::Traffic& traffic) {
    return traffic.sectors == 0 ? "-"
                                : fmt::format("{:.0f} %", 100 * traffic.efficiency());
}

std::string passes(const sim::LaunchCounters& c) {
    const size_t least = c.shared_loads.least + c.shared_stores.least;
    const size_t rounds = c.shared_loads.rounds + c.shared_stores.rounds;
    return least == 0 ? "-"
                      : fmt::format("{:.1f}", static_cast<double>(rounds) /
                                                  static_cast<double>(least));
}

std::string extents(dim3 grid, dim3 block) {
    return fmt::format("{} x {}", grid.x * grid.y * grid.z, block.x * block.y * block.z);
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path);
    out << text;
    out.close();
    MINI_CHECK(out, "mini kernels: cannot write ", path,
               ": check that the folder exists and the disk is not full");
}

struct Arguments {
    std::vector<std::string> names;
    std::string picture, json;
    bool list = false, lines = false;
};

void run_samples(const Arguments& arguments) {
    const auto samples = chosen_samples(arguments.names);
    const std::string& picture = arguments.picture;
    if (!picture.empty() && samples.size() != 1)
        throw UsageError(concat("--svg: a picture shows one sample, but ", samples.size(),
                                " were chosen; name one"));
    sim::Counting counting(picture.empty() ? 0 : kMaxAccesses);
    const auto& launches = counting.log().launches();
    nlohmann::ordered_json json;
    for (const KernelSample& sample : samples) {
        const size_t first = launches.size();
        sample.run();
        json[sample.name] = counters_json(launches, first);
    }
    fmt::print("{}", arguments.lines ? lines_text(launches) : counters_table(launches));
    if (!picture.empty())
        write_file(picture, access_picture(counting.log().accesses(), samples[0].name));
    if (!arguments.json.empty()) write_file(arguments.json, json.dump(2) + "\n");
}

void list_samples() {
    for (const KernelSample& sample : kernel_samples()) fmt::print("{}\n", sample.name);
}

}  // namespace

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

nlohmann::ordered_json counters_json(const std::vector<sim::LaunchCounters>& launches,
                                     size_t first) {
    auto json = nlohmann::ordered_json::array();
    for (size_t i = first; i < launches.size(); ++i) {
        const sim::LaunchCounters& c = launches[i];
        json.push_back({{"kernel", c.kernel},
                        {"grid", c.grid.x * c.grid.y * c.grid.z},
                        {"block", c.block.x * c.block.y * c.block.z},
                        {"load_sectors", c.global_loads.sectors},
                        {"store_sectors", c.global_stores.sectors},
                        {"shared_load_passes", c.shared_loads.rounds},
                        {"shared_store_passes", c.shared_stores.rounds}});
    }
    return json;
}

std::string lines_text(const std::vector<sim::LaunchCounters>& launches) {
    std::string text;
    for (const sim::LaunchCounters& launch : launches) {
        text += launch.kernel + "\n";
        for (const sim::LineTraffic& line : sim::traffic_by_line(launch))
            text += "  " + sim::describe(line) + "\n";
    }
    return text;
}

void add_kernels(Command& mini) {
    Command kernels = mini.add_command(
        "kernels", "Counts the memory traffic of kernels, on the simulator");
    const auto arguments = std::make_shared<Arguments>();
    kernels.add("NAME", arguments->names, "Samples to run (all)");
    kernels.add("--svg", arguments->picture,
                "Write a picture of the first block's accesses to this file");
    kernels.add("--json", arguments->json, "Write the counters of each launch to a file");
    kernels.add_flag("--list", arguments->list, "List the samples, and run none");
    kernels.add_flag("--lines", arguments->lines,
                     "Print the traffic of each source line, and who wastes it");
    kernels.on_parsed(
        [arguments] { arguments->list ? list_samples() : run_samples(*arguments); });
}

}  // namespace mini::tools
