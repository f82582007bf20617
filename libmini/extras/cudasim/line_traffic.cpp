#include "libmini/extras/cudasim/line_traffic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr size_t kListed = 4;      // threads in a description
constexpr size_t kWorstLines = 3;  // of a launch

struct LaneAddress {
    size_t thread = 0;  // in the block
    uintptr_t at = 0;   // bytes from the lowest address of the execution
};

std::vector<LaneAddress> lanes_of(const WarpAccess& access) {
    std::vector<LaneAddress> lanes;
    uintptr_t lowest = UINTPTR_MAX;
    for (uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        lanes.push_back({size_t{access.warp} * 32 + lane, access.addresses[lane]});
        lowest = std::min(lowest, access.addresses[lane]);
    }
    for (LaneAddress& lane : lanes) lane.at -= lowest;
    return lanes;
}

// Returns the lanes that access different words of the bank with the most words.
std::vector<LaneAddress> in_worst_bank(const WarpAccess& access) {
    std::map<uintptr_t, std::vector<LaneAddress>> banks;
    std::set<uintptr_t> seen;
    for (const LaneAddress& lane : lanes_of(access)) {
        const uintptr_t word = lane.at / kBankBytes;
        if (seen.insert(word).second) banks[word % kBanks].push_back(lane);
    }
    return std::max_element(banks.begin(), banks.end(),
                            [](const auto& a, const auto& b) {
                                return a.second.size() < b.second.size();
                            })
        ->second;
}

std::string where_threads_are(const LineTraffic& line) {
    const auto lanes = line.shared ? in_worst_bank(line.worst) : lanes_of(line.worst);
    std::vector<std::string> told;
    for (size_t i = 0; i < std::min(kListed, lanes.size()); ++i)
        told.push_back(
            line.shared
                ? concat("thread ", lanes[i].thread, " word ", lanes[i].at / kBankBytes)
                : concat("thread ", lanes[i].thread, " at byte ", lanes[i].at));
    if (lanes.size() > kListed) told.push_back("...");
    return (line.shared ? "one bank: " : "") + mini::join(told);
}

size_t waste(const LineTraffic& line) { return line.cost() - line.least(); }

std::string global(const char* name, const Traffic& traffic) {
    return fmt::format("{} {} instructions, {} sectors, {:.0f} % used", name,
                       traffic.instructions, traffic.sectors, 100 * traffic.efficiency());
}

}  // namespace

std::vector<LineTraffic> traffic_by_line(const LaunchCounters& launch) {
    std::vector<const void*> addresses;
    for (const auto& [key, instruction] : launch.instructions)
        addresses.push_back(key.first);
    const auto lines = lines_of(addresses);

    std::map<std::tuple<std::string, int, Mode, bool>, LineTraffic> merged;
    size_t i = 0;
    for (const auto& [key, instruction] : launch.instructions) {
        const Line& at = lines[i++];
        LineTraffic& line =
            merged[{at.file, at.number, instruction.mode, instruction.shared}];
        line.file = at.file;
        line.line = at.number;
        line.mode = instruction.mode;
        line.shared = instruction.shared;
        line.traffic += instruction.traffic;
        line.worst.keep_worse(instruction.worst);
    }
    std::vector<LineTraffic> result;
    for (auto& [key, line] : merged) result.push_back(std::move(line));
    return result;
}

std::string describe(const LineTraffic& line) {
    const char* const unit =
        line.shared ? " passes over the banks" : " sectors of 32 bytes";
    const char* const would =
        line.shared ? " would do without conflicts" : " would hold the data";
    std::string text = concat(
        describe_line(line.file, line.line),
        line.mode == Mode::kRead ? " loads" : " stores",
        line.shared ? ", shared memory: " : ", global memory: ", line.cost(), unit);
    if (line.cost() == line.least()) return text;
    text += concat("; ", line.least(), would);
    text += concat("\n    worst: block ", line.worst.block, ", threads ",
                   line.worst.warp * 32, " to ", line.worst.warp * 32 + 31, ": ",
                   line.worst.cost, unit, "; ", line.worst.least, would);
    return text + "\n    " + where_threads_are(line);
}

std::string describe(const LaunchCounters& launch) {
    const auto extent = [](dim3 of) { return size_t{of.x} * of.y * of.z; };
    std::string text = fmt::format(
        "{}, {} blocks of {} threads\n    {}; {}\n", launch.kernel, extent(launch.grid),
        extent(launch.block), global("loads", launch.global_loads),
        global("stores", launch.global_stores));
    const size_t passes = launch.shared_loads.rounds + launch.shared_stores.rounds;
    if (passes > 0)
        text +=
            fmt::format("    shared memory {} passes, {} without bank conflicts\n",
                        passes, launch.shared_loads.least + launch.shared_stores.least);
    std::vector<LineTraffic> lines = traffic_by_line(launch);
    std::ranges::stable_sort(lines, std::ranges::greater(), waste);
    for (size_t i = 0; i < std::min(lines.size(), kWorstLines) && waste(lines[i]) > 0;
         ++i) {
        std::string line = describe(lines[i]);
        for (size_t at = 0; (at = line.find('\n', at)) != std::string::npos;)
            line.insert(at += 1, "    ");
        text += fmt::format("    {}\n", line);
    }
    return text;
}

}  // namespace mini::sim
