#include "libmini/extras/cudasim/race_checker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/settings.hpp"

namespace mini::sim {
namespace {

// Returns those bytes of a word whose bits are set, and 0 for the others.
uint32_t value_at(uintptr_t word, unsigned bytes) {
    std::array<unsigned char, 4> value{};
    for (size_t i = 0; i < value.size(); ++i)
        if ((bytes >> i & 1) != 0) value[i] = reinterpret_cast<unsigned char*>(word)[i];
    return std::bit_cast<uint32_t>(value);
}

// Returns the last part of the message about a race in one kernel, after "which ".
std::string race_message(const Access& earlier, const Access& now, const char* did) {
    if (earlier.block != now.block)
        return concat("another block ", did,
                      ": blocks run in any order (here MINI_SIM_BLOCK_SEED=",
                      block_seed(), "); use atomics, or two launches");
    if (earlier.warp == now.warp)
        return concat("another lane of the warp ", did,
                      ": a __syncwarp() that both reach is missing between them");
    return concat("another thread ", did,
                  ": a __syncthreads() that both reach is missing between them");
}

}  // namespace

// Calls visit(word, cell, bytes) for each word of a range; bit i of `bytes` is byte i of the
// word.
template <typename Visit>
void RaceChecker::each_word(const AccessedRange& range, const Visit& visit) {
    const uintptr_t end = range.at + range.bytes;
    for (uintptr_t word = range.at / 4 * 4; word < end; word += 4) {
        const uintptr_t first = std::max(word, range.at) - word;
        const uintptr_t last = std::min(word + 4, end) - word;
        visit(word, shadow_.at(word), static_cast<uint8_t>((1u << last) - (1u << first)));
    }
}

void RaceChecker::forget_accesses() {
    if (execution_.next_access() < max_accesses_) return;
    std::vector<uint32_t> numbers(execution_.next_access());
    shadow_.each_accessor([&](Accessor& each) { numbers[each.access] = each.access; });
    execution_.forget_accesses(numbers);
    shadow_.each_accessor(
        [&](Accessor& each) { each.access = numbers[each.access] & 0xfffffffu; });
    max_accesses_ = std::max(kFewAccesses, 2 * size_t{execution_.next_access()});
}

void RaceChecker::visit(AccessedRange range, Mode mode, Accessor now) {
    each_word(range, [&](uintptr_t word, Cell& cell, uint8_t bytes) {
        range.word = word;
        now.bytes = bytes & 0xfu;

        // Each block starts with uninitialised shared memory.
        const uint32_t first = execution_.first_of_block();
        if (range.shared && cell.write.access < first) {
            cell.write = {};
            cell.initialised = 0;
            if (cell.reads[0].access < first) cell.reads = {};
        }
        const bool reads = mode != Mode::kWrite;
        const void* const address = execution_.access(now.access).address;
        if (reads && range.tracked && (bytes & ~cell.initialised) != 0 &&
            !findings_.met(Mistake::kUninitialised, address, nullptr))
            findings_.add(Mistake::kUninitialised, execution_.current(address), {},
                          concat("reads ", range.bytes, " bytes at ",
                                 memory_.describe(range.at, range.shared),
                                 ", which no thread has written"));

        check_order(cell.write, true, now, mode, range);
        if (mode == Mode::kRead) {
            keep_read(cell, now);
            return;
        }
        for (const Accessor& read : cell.reads)
            check_order(read, false, now, mode, range);
        if (mode != Mode::kAtomic || !follows_own_write(now, cell.write))
            cell.write = now;
        cell.reads = {};
        cell.initialised |= bytes;
    });
}

// Returns whether a thread's atomic follows a plain write of this thread, without a barrier
// between. The cell keeps the write: the atomics of other threads are unordered with it too.
bool RaceChecker::follows_own_write(Accessor atomic, Accessor write) const {
    if (write.access == 0 || write.lanes != atomic.lanes || write.bytes != atomic.bytes)
        return false;
    Access same = execution_.access(atomic.access);
    const Access& before = execution_.access(write.access);
    same.atomic = false;
    same.address = before.address;
    return before == same;
}

// Adds a read to the reads since the last write. Lanes of a warp that read at the same
// clock share an entry. A read that happens before the new one is removed: a write after
// the new read comes after both. If all entries are in use, the new read takes the place
// of the last.
void RaceChecker::keep_read(Cell& cell, Accessor now) {
    for (Accessor& read : cell.reads)
        if (read.access == now.access && read.bytes == now.bytes) {
            read.lanes |= now.lanes;
            return;
        }
    size_t kept = 0;
    for (size_t i = 0; i < cell.reads.size() && cell.reads[i].access != 0; ++i) {
        Accessor read = cell.reads[i];
        if ((read.bytes & ~now.bytes) == 0)
            read.lanes =
                execution_.unordered_lanes(execution_.access(read.access), read.lanes);
        cell.reads[i] = {};
        if (read.lanes != 0) cell.reads[kept++] = read;
    }
    cell.reads[std::min(kept, cell.reads.size() - 1)] = now;
}

void RaceChecker::visit_copy(const Operation& copy) {
    const bool fill = copy.kind == OperationKind::kFill;
    const auto visit_memory = [&](const void* pointer, Mode mode) {
        if (pointer != nullptr && device_of(pointer) != kPageable)
            visit({.at = reinterpret_cast<uintptr_t>(pointer), .bytes = copy.bytes}, mode,
                  execution_.copy_access());
    };
    if (!fill) visit_memory(copy.from, Mode::kRead);
    visit_memory(copy.to, Mode::kWrite);
    if (!fill && copy.from != nullptr && device_of(copy.from) >= 0 &&
        device_of(copy.to) >= 0)
        copy_initialised(reinterpret_cast<uintptr_t>(copy.to),
                         reinterpret_cast<uintptr_t>(copy.from), copy.bytes);
}

// Reports `now` unless the earlier access happens before it.
void RaceChecker::check_order(Accessor earlier, bool earlier_wrote, Accessor now,
                              Mode mode, const AccessedRange& range) {
    if (earlier.access == 0 || (earlier.bytes & now.bytes) == 0) return;
    const Access& before = execution_.access(earlier.access);
    const Access& access = execution_.access(now.access);
    if (before.atomic && access.atomic) return;
    earlier.lanes = execution_.unordered_lanes(before, earlier.lanes);
    if (earlier.lanes == 0) return;
    const bool same = execution_.is_own(before);
    const Mistake mistake = same ? Mistake::kRace : Mistake::kMissingSync;
    if (findings_.met(mistake, access.address, before.address)) return;
    if (same && earlier_wrote && !before.atomic && mode == Mode::kWrite) {
        conflicts_.push_back({earlier, now, range, value_at(range.word, now.bytes)});
        return;
    }
    const char* const did = !earlier_wrote ? "read" : before.atomic ? "updated" : "wrote";
    report(mistake, earlier, did, now,
           concat(verb(mode), " ", memory_.describe(range.at, range.shared)));
}

// Adds a finding whose message begins with `what`.
void RaceChecker::report(Mistake mistake, Accessor earlier, const char* did, Accessor now,
                         const std::string& what) {
    const Access& before = execution_.access(earlier.access);
    const Access& access = execution_.access(now.access);
    const std::string whose =
        execution_.is_own(before)
            ? race_message(before, access, did)
            : concat(execution_.name(before), " ", did,
                     " in another stream, and no event or wait puts this after that");
    findings_.add(mistake, execution_.party(access, now.lanes),
                  execution_.party(before, earlier.lanes),
                  concat(what, ", which ", whose));
}

void RaceChecker::report_conflicts() {
    for (const Conflict& each : conflicts_) {
        const bool same = value_at(each.range.word, each.now.bytes) == each.value;
        const Mistake mistake = same ? Mistake::kSameValue : Mistake::kRace;
        if (!findings_.met(mistake, execution_.access(each.now.access).address,
                           execution_.access(each.earlier.access).address))
            report(mistake, each.earlier, "wrote", each.now,
                   concat(same ? "writes the same value to " : "writes ",
                          memory_.describe(each.range.at, each.range.shared)));
    }
    conflicts_.clear();
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
