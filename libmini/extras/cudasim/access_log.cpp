#include "libmini/extras/cudasim/access_log.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr uintptr_t kSector = 32;

// Sets the bytes that the lanes request together, once each, and the cost in sectors.
void count_sectors(const WarpAccess& execution, Traffic& traffic) {
    std::vector<uintptr_t> sorted;
    for (const auto& [lane, at] : execution.addresses) sorted.push_back(at);
    std::ranges::sort(sorted);
    uintptr_t end = 0, sector_end = 0;
    for (const uintptr_t begin : sorted) {
        const uintptr_t last = begin + execution.bytes;
        if (last > end) traffic.used += last - std::max(begin, end);
        const uintptr_t first = std::max(begin / kSector, sector_end);
        const uintptr_t after = (last - 1) / kSector + 1;
        if (after > first) traffic.cost += after - first;
        end = std::max(end, last);
        sector_end = std::max(sector_end, after);
    }
    traffic.least = (traffic.used + kSector - 1) / kSector;
}

// By bank: a lane for each of the words that some lanes access.
using Banks = std::map<uintptr_t, std::map<uintptr_t, uint32_t>>;

// Adds a lane that accesses `bytes` at an address.
void add(Banks& banks, uint32_t lane, uintptr_t at, uint32_t bytes) {
    for (uintptr_t word = at / kBankBytes; word <= (at + bytes - 1) / kBankBytes; ++word)
        banks[word % kBanks].try_emplace(word, lane);
}

// Returns the words of the bank with the most words, which need a pass each.
const Banks::mapped_type& worst_of(const Banks& banks) {
    return std::ranges::max_element(banks, {},
                                    [](const auto& bank) { return bank.second.size(); })
        ->second;
}

// Sets the cost in passes over the banks, which serve 128 bytes each: all lanes for accesses of 4 bytes,
// half of the lanes for 8 bytes, a quarter for 16 bytes.
void count_passes(const WarpAccess& execution, Traffic& traffic) {
    const size_t together = 32 / std::max(execution.bytes / kBankBytes, uintptr_t{1});
    traffic.cost = traffic.least = 0;
    Banks banks;
    size_t pending = execution.addresses.size(), added = 0;
    for (const auto& [lane, at] : execution.addresses) {
        add(banks, lane, at, execution.bytes);
        if (--pending > 0 && ++added % together > 0) continue;
        traffic.cost += worst_of(banks).size();
        ++traffic.least;
        banks.clear();
    }
}

constexpr size_t kListed = 4;      // threads in a description
constexpr size_t kWorstLines = 3;  // of a launch

// Returns the first threads of the worst access, and where they access: words of one bank, or
// bytes, counted from the lowest address.
std::string where_threads_are(const WarpAccess& access, bool shared) {
    uintptr_t lowest = UINTPTR_MAX;
    for (const auto& [lane, at] : access.addresses) lowest = std::min(lowest, at);
    std::map<uint32_t, uintptr_t> places;  // by lane
    Banks banks;
    for (const auto& [lane, at] : access.addresses) {
        places[lane] = at - lowest;
        add(banks, lane, at - lowest, 1);
    }
    if (shared) {
        places.clear();
        for (const auto& [word, lane] : worst_of(banks)) places[lane] = word;
    }
    std::vector<std::string> told;
    for (const auto& [lane, place] : places)
        if (told.size() < kListed)
            told.push_back(concat("thread ", access.warp * 32 + lane,
                                  shared ? " word " : " at byte ", place));
    if (places.size() > kListed) told.push_back("...");
    return (shared ? "one bank: " : "") + mini::join(told);
}

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
    used += other.used;
    cost += other.cost;
    least += other.least;
    const WarpAccess& theirs = other.example;
    if (example.addresses.empty() ||
        theirs.cost - theirs.least > example.cost - example.least)
        example = theirs;
    return *this;
}

void AccessLog::begin_launch(std::string kernel, dim3 grid, dim3 block) {
    launches_.push_back({.kernel = std::move(kernel), .grid = grid, .block = block});
}

void AccessLog::access(uint32_t block, uint32_t thread, const MemoryAccess& access,
                       bool shared) {
    if (access.mode == Mode::kAtomic) {
        ++launches_.back().atomics;
        return;
    }
    const uint32_t warp = thread / 32, lane = thread % 32;
    Instruction& instruction = block_[{warp, access.address, access.mode, shared}];
    const uint32_t time = instruction.times[lane]++;
    if (instruction.executions.size() <= time)
        instruction.executions.push_back({.block = block, .warp = warp});
    WarpAccess& execution = instruction.executions[time];
    execution.bytes = std::max(execution.bytes, static_cast<uint32_t>(access.bytes));
    execution.addresses.emplace_back(lane, access.at());
}

void AccessLog::end_block() {
    for (auto& [key, instruction] : block_) {
        LaunchCounters& launch = launches_.back();
        const auto& [warp, address, mode, shared] = key;
        for (WarpAccess& execution : instruction.executions) {
            std::ranges::sort(execution.addresses);
            Traffic traffic;
            traffic.instructions = 1;
            count_sectors(execution, traffic);
            if (shared) count_passes(execution, traffic);
            execution.cost = traffic.cost;
            execution.least = traffic.least;
            traffic.example = std::move(execution);
            const bool load = mode == Mode::kRead;
            (shared ? load ? launch.shared_loads : launch.shared_stores
             : load ? launch.global_loads
                    : launch.global_stores) += traffic;
            launch.instructions[{address, mode, shared}] += traffic;
        }
    }
    block_.clear();
}

std::map<SourceLine, Traffic> traffic_by_line(const LaunchCounters& launch) {
    std::vector<const void*> addresses;
    for (const auto& [key, traffic] : launch.instructions)
        addresses.push_back(std::get<0>(key));
    const auto lines = lines_of(addresses);

    std::map<SourceLine, Traffic> merged;
    for (const auto& [key, traffic] : launch.instructions) {
        const auto& [address, mode, shared] = key;
        const Line& at = lines.at(address);
        merged[{at.file, at.number, mode, shared}] += traffic;
    }
    return merged;
}

std::string describe(const SourceLine& line, const Traffic& traffic) {
    const auto& [file, number, mode, shared] = line;
    const char* const unit = shared ? " passes over the banks" : " sectors of 32 bytes";
    const char* const would =
        shared ? " would do without conflicts" : " would hold the data";
    std::string text =
        concat(describe_line(file, number), mode == Mode::kRead ? " loads" : " stores",
               shared ? ", shared memory: " : ", global memory: ", traffic.cost, unit);
    if (traffic.waste() == 0) return text;
    const WarpAccess& worst = traffic.example;
    return concat(text, "; ", traffic.least, would, "\n    worst: block ", worst.block,
                  ", threads ", worst.warp * 32, " to ", worst.warp * 32 + 31, ": ",
                  worst.cost, unit, "; ", worst.least, would, "\n    ",
                  where_threads_are(worst, shared));
}

std::string describe(const LaunchCounters& launch) {
    std::string text = fmt::format("{}, {} blocks of {} threads\n    {}; {}\n",
                                   launch.kernel, count(launch.grid), count(launch.block),
                                   global("loads", launch.global_loads),
                                   global("stores", launch.global_stores));
    const size_t passes = launch.shared_loads.cost + launch.shared_stores.cost;
    if (passes > 0)
        text +=
            fmt::format("    shared memory {} passes, {} without bank conflicts\n",
                        passes, launch.shared_loads.least + launch.shared_stores.least);
    const auto by_line = traffic_by_line(launch);
    std::vector<std::pair<SourceLine, Traffic>> lines(by_line.begin(), by_line.end());
    std::ranges::stable_sort(lines, std::ranges::greater(),
                             [](const auto& each) { return each.second.waste(); });
    if (lines.size() > kWorstLines) lines.resize(kWorstLines);
    for (const auto& [at_line, traffic] : lines) {
        if (traffic.waste() == 0) break;
        std::string line = describe(at_line, traffic);
        for (size_t at = 0; (at = line.find('\n', at)) != std::string::npos;)
            line.insert(at += 1, "    ");
        text += fmt::format("    {}\n", line);
    }
    return text;
}

}  // namespace mini::sim
