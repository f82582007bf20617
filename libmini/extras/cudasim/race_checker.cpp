#include "libmini/extras/cudasim/race_checker.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block_seed.hpp"
#include "libmini/extras/cudasim/memory.hpp"

namespace mini::sim {
namespace {

// Returns whether two reads differ at most in the lane of their warp.
bool same_but_lane(const Access& a, const Access& b) {
    return a.operation == b.operation && a.block == b.block && a.interval == b.interval &&
           a.clock == b.clock && a.thread / 32 == b.thread / 32 && a.bytes == b.bytes &&
           a.address == b.address;
}

// Returns the last part of the message about a race in one kernel, after "which ".
std::string race_message(const Access& earlier, const Access& now, const char* did) {
    if (earlier.block != now.block)
        return concat("another block ", did,
                      ": blocks run in any order (here MINI_SIM_BLOCK_SEED=",
                      block_seed(), "); use atomics, or two launches");
    if (earlier.thread / 32 == now.thread / 32)
        return concat("another lane of the warp ", did,
                      ": a __syncwarp(), or __syncthreads(), between them is missing");
    return concat("another thread ", did, ": a __syncthreads() between them is missing");
}

}  // namespace

// Calls visit(cell, bytes) for each word of a range; bit i of `bytes` is byte i of the
// word.
template <typename Visit>
void RaceChecker::each_word(const AccessedRange& range, const Visit& visit) {
    const uintptr_t end = range.at + range.bytes;
    for (uintptr_t word = range.at / 4 * 4; word < end; word += 4) {
        const uintptr_t first = std::max(word, range.at) - word;
        const uintptr_t last = std::min(word + 4, end) - word;
        visit(shadow_.at(word), static_cast<uint8_t>((1u << last) - (1u << first)));
    }
}

void RaceChecker::visit(const AccessedRange& range, Mode mode, const Access& access) {
    each_word(range, [&](Cell& cell, uint8_t bytes) {
        Access now = access;
        now.bytes = bytes;

        // Each block starts with uninitialised shared memory.
        if (range.shared && (cell.write.operation != execution_.number() ||
                             cell.write.block != now.block))
            cell.initialised = 0;
        const bool reads = mode != Mode::kWrite;
        if (reads && range.tracked && (now.bytes & ~cell.initialised) != 0 &&
            !findings_.met(Mistake::kUninitialised, now.address, nullptr))
            findings_.add(Mistake::kUninitialised, execution_.current(now.address), {},
                          concat("reads ", range.bytes, " bytes of ",
                                 memory_.describe(range.at, range.shared),
                                 " that were never written"));

        check_order(cell.write, true, now, mode, range);
        if (mode != Mode::kRead)
            for (size_t i = 0; i < cell.read_count; ++i)
                check_order(cell.reads[i], false, now, mode, range);

        if (mode == Mode::kRead) {
            keep_read(cell, now);
        } else {
            cell.write = now;
            cell.read_count = 0;
            cell.initialised |= now.bytes;
        }
    });
}

// Adds a read to the reads since the last write. Lanes of a warp that read at the same
// clock share an entry. A read that happens before the new one is removed: a write after
// the new read comes after both. If all entries are in use, the new read takes the place
// of the last.
void RaceChecker::keep_read(Cell& cell, const Access& now) {
    for (size_t i = 0; i < cell.read_count; ++i)
        if (same_but_lane(cell.reads[i], now)) {
            cell.reads[i].lanes |= now.lanes;
            return;
        }
    size_t kept = 0;
    for (size_t i = 0; i < cell.read_count; ++i) {
        const Access& read = cell.reads[i];
        const bool covered = (read.bytes & ~now.bytes) == 0;
        const uint32_t lanes = covered ? execution_.unordered_lanes(read) : read.lanes;
        if (lanes == 0) continue;
        if (kept != i) cell.reads[kept] = read;
        cell.reads[kept++].lanes = lanes;
    }
    if (kept < cell.reads.size()) ++kept;
    cell.read_count = static_cast<uint8_t>(kept);
    cell.reads[kept - 1] = now;
}

void RaceChecker::visit_copy(const OperationInfo& info) {
    const bool fill = info.kind == OperationKind::kFill;
    const auto visit_memory = [&](const void* pointer, Mode mode) {
        if (pointer != nullptr && device_of(pointer) != kPageable)
            visit({.at = reinterpret_cast<uintptr_t>(pointer), .bytes = info.bytes}, mode,
                  execution_.copy_access());
    };
    if (!fill) visit_memory(info.from, Mode::kRead);
    visit_memory(info.to, Mode::kWrite);
    if (!fill && info.from != nullptr && device_of(info.from) >= 0 &&
        device_of(info.to) >= 0)
        copy_initialised(reinterpret_cast<uintptr_t>(info.to),
                         reinterpret_cast<uintptr_t>(info.from), info.bytes);
}

// Reports `now` unless the earlier access happens before it.
void RaceChecker::check_order(const Access& earlier, bool earlier_wrote,
                              const Access& now, Mode mode, const AccessedRange& range) {
    if (earlier.operation == 0 || (earlier.bytes & now.bytes) == 0) return;
    const bool same = earlier.operation == execution_.number();
    if (range.shared && (!same || earlier.block != now.block))
        return;  // the earlier access is of a finished block
    if (earlier.atomic && now.atomic) return;
    const uint32_t lanes = execution_.unordered_lanes(earlier);
    if (lanes == 0) return;
    const Mistake mistake = same ? Mistake::kRace : Mistake::kMissingSync;
    if (findings_.met(mistake, now.address, earlier.address)) return;

    const char* const did = earlier.atomic ? "updated" : earlier_wrote ? "wrote" : "read";
    const std::string what =
        same ? race_message(earlier, now, did)
             : concat(execution_.name(earlier), " ", did,
                      " in another stream, and no event or wait orders the two");
    Access unordered = earlier;
    unordered.lanes = lanes;
    findings_.add(mistake, execution_.current(now.address), execution_.party(unordered),
                  concat(verb(mode), " ", memory_.describe(range.at, range.shared),
                         ", which ", what));
}

void RaceChecker::copy_initialised(uintptr_t to, uintptr_t from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t known =
            shadow_.at((from + i) / 4 * 4).initialised >> (from + i) % 4 & 1;
        uint8_t& all = shadow_.at((to + i) / 4 * 4).initialised;
        all = static_cast<uint8_t>((all & ~(1u << (to + i) % 4)) | known << (to + i) % 4);
    }
}

}  // namespace mini::sim
