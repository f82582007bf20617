#include "libmini/extras/cudasim/access_log.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

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

}  // namespace

double Traffic::efficiency() const {
    return sectors == 0
               ? 1.0
               : static_cast<double>(used) / static_cast<double>(sectors * kSector);
}

Traffic& Traffic::operator+=(const Traffic& other) {
    instructions += other.instructions;
    partial += other.partial;
    used += other.used;
    sectors += other.sectors;
    rounds += other.rounds;
    least += other.least;
    worst = std::max(worst, other.worst);
    packed += other.packed;
    return *this;
}

void AccessLog::begin_launch(std::string kernel, dim3 grid, dim3 block) {
    LaunchCounters counters;
    counters.kernel = std::move(kernel);
    counters.grid = grid;
    counters.block = block;
    launches_.push_back(std::move(counters));
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
            traffic.rounds += rounds;
            traffic.worst = std::max(traffic.worst, rounds);
            ++traffic.least;
        }
    }
    std::sort(ranges.begin(), ranges.end());
    const Footprint all = footprint(ranges);
    traffic.used = all.bytes;
    if (!shared) {
        traffic.sectors = all.sectors;
        traffic.packed = (all.bytes + kSector - 1) / kSector;
    }

    execution.cost = shared ? traffic.rounds : traffic.sectors;
    execution.least = shared ? traffic.least : traffic.packed;
    of_instruction.worst.keep_worse(execution);
    of_instruction.traffic += traffic;
    LaunchCounters& counters = launches_.back();
    const bool load = of_instruction.mode == Mode::kRead;
    (shared ? load ? counters.shared_loads : counters.shared_stores
     : load ? counters.global_loads
            : counters.global_stores) += traffic;
}

}  // namespace mini::sim
