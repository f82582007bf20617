#include "libmini/extras/cudasim/access_log.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <tuple>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr uintptr_t kSector = 32;

// The distinct bytes that the lanes request together, and the sectors that hold them.
struct Footprint {
    size_t bytes = 0;
    size_t sectors = 0;
};
Footprint footprint(const std::vector<std::pair<uintptr_t, uintptr_t>>& sorted) {
    Footprint total;
    uintptr_t end = 0, sector_end = 0;
    for (const auto& [begin, last] : sorted) {
        if (last > end) total.bytes += last - std::max(begin, end);
        const uintptr_t first = std::max(begin / kSector, sector_end);
        const uintptr_t after = (last - 1) / kSector + 1;
        if (after > first) total.sectors += after - first;
        end = std::max(end, last);
        sector_end = std::max(sector_end, after);
    }
    return total;
}

// Returns the passes over the banks: the largest number of different words in one bank.
size_t passes(const std::vector<uintptr_t>& addresses, uint32_t bytes) {
    std::array<std::set<uintptr_t>, kBanks> words;
    for (const uintptr_t address : addresses)
        for (uintptr_t word = address / kBankBytes;
             word <= (address + bytes - 1) / kBankBytes; ++word)
            words[word % kBanks].insert(word);
    size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return most;
}

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

size_t waste(const LineTraffic& line) { return line.traffic.cost - line.traffic.least; }

std::string global(const char* name, const Traffic& traffic) {
    return fmt::format("{} {} instructions, {} sectors, {:.0f} % used", name,
                       traffic.instructions, traffic.cost, 100 * traffic.efficiency());
}

}  // namespace

double Traffic::efficiency() const {
    return cost == 0 ? 1.0
                     : static_cast<double>(used) / static_cast<double>(cost * kSector);
}

Traffic& Traffic::operator+=(const Traffic& other) {
    instructions += other.instructions;
    partial += other.partial;
    used += other.used;
    cost += other.cost;
    least += other.least;
    worst = std::max(worst, other.worst);
    return *this;
}

void AccessLog::begin_launch(std::string kernel, dim3 grid, dim3 block) {
    launches_.push_back({.kernel = std::move(kernel), .grid = grid, .block = block});
}

void AccessLog::begin_block(unsigned threads) {
    threads_ = threads;
    block_.clear();
}

void AccessLog::access(uint32_t block, uint32_t thread, const MemoryAccess& access,
                       bool shared) {
    if (access.mode == Mode::kAtomic) {
        ++launches_.back().atomics;
        return;
    }
    const uint32_t lane = thread % 32;
    Instruction& instruction = block_[{thread / 32, access.address, shared}];
    const uint32_t time = instruction.times[lane]++;
    if (instruction.executions.size() <= time) instruction.executions.resize(time + 1);
    instruction.mode = access.mode;
    WarpAccess& execution = instruction.executions[time];
    execution.block = block;
    execution.warp = thread / 32;
    execution.bytes = std::max(execution.bytes, static_cast<uint32_t>(access.bytes));
    execution.lanes |= 1u << lane;
    execution.addresses[lane] = access.at();
}

void AccessLog::end_block() {
    for (const auto& [key, instruction] : block_) {
        const auto& [warp, address, shared] = key;
        const unsigned lanes = std::min(threads_ - warp * 32, 32u);
        const uint32_t living = lanes == 32 ? ~0u : (1u << lanes) - 1;
        InstructionTraffic& all = launches_.back().instructions[{address, shared}];
        all.mode = instruction.mode;
        all.shared = shared;
        for (const WarpAccess& execution : instruction.executions)
            count(execution, living, all);
    }
    block_.clear();
}

void AccessLog::count(WarpAccess execution, uint32_t living,
                      InstructionTraffic& of_instruction) {
    Traffic traffic;
    traffic.instructions = 1;
    traffic.partial = execution.lanes == living ? 0 : 1;

    std::vector<std::pair<uintptr_t, uintptr_t>> ranges;
    for (uint32_t left = execution.lanes; left != 0; left &= left - 1) {
        const uintptr_t at =
            execution.addresses[static_cast<size_t>(std::countr_zero(left))];
        ranges.emplace_back(at, at + execution.bytes);
    }

    // The banks serve 128 bytes per pass: all lanes for accesses of 4 bytes, half of the
    // lanes for 8 bytes, a quarter for 16 bytes.
    const bool shared = of_instruction.shared;
    if (shared) {
        const size_t together = 32 / std::max(execution.bytes / kBankBytes, uintptr_t{1});
        for (size_t first = 0; first < ranges.size(); first += together) {
            std::vector<uintptr_t> addresses;
            for (size_t i = first; i < std::min(first + together, ranges.size()); ++i)
                addresses.push_back(ranges[i].first);
            const size_t rounds = passes(addresses, execution.bytes);
            traffic.cost += rounds;
            traffic.worst = std::max(traffic.worst, rounds);
            ++traffic.least;
        }
    }
    std::sort(ranges.begin(), ranges.end());
    const Footprint all = footprint(ranges);
    traffic.used = all.bytes;
    if (!shared) {
        traffic.cost = all.sectors;
        traffic.least = (all.bytes + kSector - 1) / kSector;
    }
    execution.cost = traffic.cost;
    execution.least = traffic.least;
    of_instruction.worst.keep_worse(execution);
    of_instruction.traffic += traffic;
    LaunchCounters& counters = launches_.back();
    const bool load = of_instruction.mode == Mode::kRead;
    (shared ? load ? counters.shared_loads : counters.shared_stores
     : load ? counters.global_loads
            : counters.global_stores) += traffic;
}

std::vector<LineTraffic> traffic_by_line(const LaunchCounters& launch) {
    std::vector<const void*> addresses;
    for (const auto& [key, instruction] : launch.instructions)
        addresses.push_back(key.first);
    const auto lines = lines_of(addresses);

    std::map<std::tuple<std::string, int, Mode, bool>, LineTraffic> merged;
    for (const auto& [key, instruction] : launch.instructions) {
        const Line& at = lines.at(key.first);
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
        line.shared ? ", shared memory: " : ", global memory: ", line.traffic.cost, unit);
    if (waste(line) == 0) return text;
    text += concat("; ", line.traffic.least, would);
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
    const size_t passes = launch.shared_loads.cost + launch.shared_stores.cost;
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
