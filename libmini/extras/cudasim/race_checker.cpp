#include "libmini/extras/cudasim/race_checker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"

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
std::string race_message(const Access& earlier, const Access& now, const char* did,
                         size_t threads) {
    if (earlier.block != now.block)
        return concat("another block ", did,
                      ": blocks run in any order (here MINI_SIM_BLOCK_SEED=",
                      block_seed(), "); use atomics, or two launches");
    if (earlier.warp == now.warp)
        return concat(
            "another lane of the warp ", did,
            ": a __syncwarp() that both reach is missing between them",
            threads > 32 ? ", or a __syncthreads() if other warps use it too" : "");
    return concat("another thread ", did,
                  ": a __syncthreads() that both reach is missing between them");
}

}  // namespace

std::string name(const Allocation& allocation) {
    std::string text = concat("allocation ", allocation.id);
    const auto add = [&](const char* what, const void* call) {
        if (call == nullptr) return;
        const Line line = lines_of({call}).at(call);
        text += concat(what, describe_line(line.file, line.number));
    };
    add(", made at ", allocation.call);
    add(", freed at ", allocation.freed_by);
    return text;
}

std::string place_outside(uintptr_t at, const Allocation& before) {
    const auto begin = reinterpret_cast<uintptr_t>(before.begin);
    const auto next = find_allocation(reinterpret_cast<const void*>(at + kRedZoneBytes));
    const auto next_begin = reinterpret_cast<uintptr_t>(next.begin);
    const bool is_before_next = next_begin > at;
    if (is_before_next && (begin == 0 || at - begin - before.bytes > next_begin - at))
        return concat("that begin ", next_begin - at, " bytes before ", name(next), " (",
                      next.bytes, " bytes)");
    if (before.freed) return concat("of ", name(before), ", which was freed");
    if (begin == 0) return "of device memory that was never allocated";
    return concat("at byte ", at - begin, " of ", name(before), ", which has ",
                  before.bytes, " bytes");
}

const Allocation& MemoryMap::allocation_at(uintptr_t at) {
    if (memory_changed_ && memory_changed_.exchange(false)) recent_.clear();
    const auto* const pointer = reinterpret_cast<const void*>(at);
    for (const Allocation& each : recent_)
        if (each.contains(pointer, 1)) return each;
    if (recent_.size() >= 8) recent_.erase(recent_.begin());
    return recent_.emplace_back(find_allocation(pointer));
}

const SharedArray* MemoryMap::array_before(uintptr_t at) const {
    const auto& arrays = shared_arrays();
    const auto after =
        std::ranges::upper_bound(arrays, variables.offset(at), {}, &SharedArray::offset);
    return after == arrays.begin() ? nullptr : &*std::prev(after);
}

std::string MemoryMap::describe(uintptr_t at, bool shared) {
    if (!shared) {
        const Allocation& allocation = allocation_at(at);
        return concat("byte ", at - reinterpret_cast<uintptr_t>(allocation.begin), " of ",
                      name(allocation), " (", allocation.bytes, " bytes)");
    }
    if (variables.offset(at) >= variables.bytes)
        return concat("byte ", dynamic.offset(at), " of the dynamic shared memory");
    const SharedArray* const array = array_before(at);
    if (array == nullptr) return "shared memory";
    return concat("byte ", variables.offset(at) - array->offset, " of the shared array ",
                  array->name,
                  array->function == kernel ? "" : concat(" of ", array->function));
}

void RaceChecker::begin(const Operation& operation) {
    running_ = &operation;
    number_ = static_cast<uint32_t>(records_.size());
    is_abandoned_ = false;
    Record record{.stamp = operation.stamp, .call = operation.call};
    record.is_kernel = operation.kind == OperationKind::kKernel;
    record.name = operation.kind == OperationKind::kCopy ? "a copy" : "a fill";
    if (record.is_kernel) {
        record.name = short_name(function_at(operation.launch->kernel));
        record.grid = operation.launch->grid;
        record.block = operation.launch->block;
    }
    records_.push_back(std::move(record));
    order_.begin_launch();
}

void RaceChecker::begin_block(uint32_t block, unsigned threads) {
    if (accesses_.size() >= max_accesses_) forget_accesses();
    order_.begin_block(block, threads);
    first_of_block_ = accesses_.size();
}

void RaceChecker::grid_met() {
    number_ = static_cast<uint32_t>(records_.size());
    records_.push_back(Record(records_.back()));
    order_.begin_launch();
}

// Forgets the accesses that no word needs any more.
void RaceChecker::forget_accesses() {
    std::vector<uint32_t> numbers(accesses_.size());
    shadow_.each_accessor([&](Accessor& each) { numbers[each.access] = each.access; });
    uint32_t kept = 1;
    for (size_t i = 1; i < numbers.size(); ++i) {
        if (numbers[i] == 0) continue;
        numbers[i] = kept;
        accesses_[kept++] = accesses_[i];
    }
    accesses_.resize(kept);
    recent_.fill(0);
    shadow_.each_accessor(
        [&](Accessor& each) { each.access = numbers[each.access] & 0xfffffffu; });
    max_accesses_ = std::max(kFewAccesses, 2 * accesses_.size());
}

// Returns an access of the running thread.
Accessor RaceChecker::thread_access(bool atomic, const void* address) {
    const unsigned thread = running().thread;
    const Access now{.operation = number_,
                     .block = order_.block(),
                     .interval = order_.interval(),
                     .clock = order_.clock(thread),
                     .warp = static_cast<uint16_t>(thread / 32),
                     .atomic = atomic,
                     .address = address};
    // The lanes of a warp execute the instruction soon after each other.
    uint32_t& number = recent_[reinterpret_cast<uintptr_t>(address) % recent_.size()];
    if (accesses_[number] != now) {
        number = static_cast<uint32_t>(accesses_.size());
        accesses_.push_back(now);
    }
    return {.access = number, .lanes = 1u << thread % 32};
}

// Returns the thread, copy or fill that made an access.
Place RaceChecker::party(const Access& access, unsigned thread) const {
    const Record& record = records_[access.operation];
    if (!record.is_kernel) return {access.address, record.name};
    return {access.address, record.name, unravel(access.block, record.grid),
            unravel(thread, record.block), record.call};
}

// Returns those of an earlier access's lanes that do not happen before the next access of
// the running thread, copy or fill: 0 if the access happens before it.
uint32_t RaceChecker::unordered_lanes(const Access& earlier, uint32_t lanes) const {
    const Record& record = records_[earlier.operation];
    if (earlier.operation != number_)
        return precedes(record.stamp, running_->clock) ? 0 : lanes;
    return record.is_kernel ? order_.unordered_lanes(earlier, lanes, running().thread)
                            : 0;
}

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

void RaceChecker::visit(const AccessedRange& range, Mode mode, bool atomic,
                        const void* address) {
    if (atomic) order_.atomic(running().thread, range.at, range.shared);
    visit(range, mode, thread_access(atomic, address));
}

void RaceChecker::visit(AccessedRange range, Mode mode, Accessor now) {
    each_word(range, [&](uintptr_t word, Cell& cell, uint8_t bytes) {
        range.word = word;
        now.bytes = bytes & 0xfu;

        // Each block starts with uninitialised shared memory.
        if (range.shared && cell.write.access < first_of_block_) {
            cell.write = {};
            cell.initialised = 0;
            if (cell.reads[0].access < first_of_block_) cell.reads = {};
        }
        const bool reads = mode != Mode::kWrite;
        const void* const address = accesses_[now.access].address;
        if (reads && range.tracked && (bytes & ~cell.initialised) != 0 &&
            !findings_.met(Mistake::kUninitialised, address, nullptr))
            findings_.add(Mistake::kUninitialised, current(address), {},
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
    Access same = accesses_[atomic.access];
    const Access& before = accesses_[write.access];
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
            read.lanes = unordered_lanes(accesses_[read.access], read.lanes);
        cell.reads[i] = {};
        if (read.lanes != 0) cell.reads[kept++] = read;
    }
    cell.reads[std::min(kept, cell.reads.size() - 1)] = now;
}

void RaceChecker::visit_copy() {
    const Operation& copy = *running_;
    const auto visit_memory = [&](const void* pointer, Mode mode) {
        if (device_of(pointer) == kPageable) return;
        accesses_.push_back({.operation = number_, .address = copy.call});
        const auto access = static_cast<uint32_t>(accesses_.size() - 1);
        visit({.at = reinterpret_cast<uintptr_t>(pointer), .bytes = copy.bytes}, mode,
              {.access = access, .lanes = 1});
    };
    visit_memory(copy.from, Mode::kRead);  // null for a fill
    if (device_of(copy.to) < 0) check_written(copy);
    visit_memory(copy.to, Mode::kWrite);
    if (device_of(copy.from) >= 0 && device_of(copy.to) >= 0)
        copy_initialised(reinterpret_cast<uintptr_t>(copy.to),
                         reinterpret_cast<uintptr_t>(copy.from), copy.bytes);
}

// Reports `now` unless the earlier access happens before it.
void RaceChecker::check_order(Accessor earlier, bool earlier_wrote, Accessor now,
                              Mode mode, const AccessedRange& range) {
    if (earlier.access == 0 || (earlier.bytes & now.bytes) == 0) return;
    const Access& before = accesses_[earlier.access];
    const Access& access = accesses_[now.access];
    if (before.atomic && access.atomic) return;
    earlier.lanes = unordered_lanes(before, earlier.lanes);
    if (earlier.lanes == 0) return;
    const bool same = before.operation == number_;
    const Mistake mistake = same ? Mistake::kRace : Mistake::kMissingSync;
    if (findings_.met(mistake, access.address, before.address)) return;
    if (same && earlier_wrote && !before.atomic && mode == Mode::kWrite) {
        conflicts_.push_back({earlier, now, range, value_at(range.word, now.bytes)});
        return;
    }
    const char* const did = !earlier_wrote ? "read" : before.atomic ? "updated" : "wrote";
    report(mistake, earlier, did, now, verb(mode), range);
}

// Adds a finding whose message begins with `what` and the memory.
void RaceChecker::report(Mistake mistake, Accessor earlier, const char* did, Accessor now,
                         const std::string& what, const AccessedRange& range) {
    const Access& before = accesses_[earlier.access];
    const Access& access = accesses_[now.access];
    const std::string whose =
        before.operation == number_
            ? race_message(before, access, did, count(records_[number_].block))
            : concat(records_[before.operation].name, " ", did,
                     " in another stream, and no event or wait puts this after that");
    findings_.add(
        mistake, party(now), party(earlier),
        concat(what, " ", memory_.describe(range.at, range.shared), ", which ", whose));
}

void RaceChecker::report_conflicts() {
    for (const Conflict& each : conflicts_) {
        const bool same = value_at(each.range.word, each.now.bytes) == each.value;
        const Mistake mistake = same ? Mistake::kSameValue : Mistake::kRace;
        if (!findings_.met(mistake, accesses_[each.now.access].address,
                           accesses_[each.earlier.access].address))
            report(mistake, each.earlier, "wrote", each.now,
                   same ? "writes the same value to" : "writes", each.range);
    }
    conflicts_.clear();
}

// Notes a copy to the host whose last bytes no thread has written. If others are not written
// either, they may be gaps in structures.
void RaceChecker::check_written(const Operation& copy) {
    const auto begin = reinterpret_cast<uintptr_t>(copy.from);
    if (!memory_.tracks(memory_.allocation_at(begin))) return;
    uintptr_t last = begin + copy.bytes;  // after the last written byte
    while (last > begin && !shadow_.is_initialised(last - 1)) --last;
    const size_t missing = begin + copy.bytes - last;
    if (missing < sizeof(int)) return;
    for (uintptr_t at = begin; at < last; ++at)
        if (!shadow_.is_initialised(at)) return;
    findings_.add(Mistake::kUnwrittenCopy, current(copy.call), {},
                  concat("copies ", copy.bytes, " bytes to the host, from ",
                         memory_.describe(begin, false),
                         "; no thread has written the last ", missing));
}

void RaceChecker::copy_initialised(uintptr_t to, uintptr_t from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t known = shadow_.is_initialised(from + i) ? 1 : 0;
        uint8_t& all = shadow_.at((to + i) / 4 * 4).initialised;
        all = static_cast<uint8_t>((all & ~(1u << (to + i) % 4)) | known << (to + i) % 4);
    }
}

}  // namespace mini::sim
