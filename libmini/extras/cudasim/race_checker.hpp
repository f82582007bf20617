// Records the kernels, copies and fills, and their accesses. Keeps the last accesses of each
// address in shadow memory, and reports reads of uninitialised memory and accesses that no
// barrier, event or wait orders.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/block_order.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/shadow.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

/// Returns "allocation 3", and the source line that made it if that is known.
std::string name(const Allocation& allocation);

/// Finds the allocation, or the shared array of the running block, that contains an address
/// which a kernel accesses.
class MemoryMap {
  public:
    /// Called on any thread, when memory is allocated or freed.
    void memory_changed() { memory_changed_ = true; }

    // Called on the thread that runs the kernel.

    /// Of the running block: the thread-local variables, which contain the shared arrays, the
    /// dynamic shared memory, and the kernel's short name.
    Region variables, dynamic;
    std::string kernel;

    /// Returns the allocation that find_allocation() (memory.hpp) finds for an address:
    /// the allocation that contains the address, or else the last allocation before it; one
    /// of id 0 if there is none. The reference is valid until the next call.
    const Allocation& allocation_at(uintptr_t at);

    /// Returns whether all writes to an allocation were checked: it is younger than this.
    bool tracks(const Allocation& allocation) const {
        return allocation.id > last_untracked_ && allocation.device != kPinned;
    }

    /// Returns the last shared array that begins at or before an address of `variables`, or
    /// null.
    const SharedArray* array_before(uintptr_t at) const;

    /// Returns a text like "byte 12 of allocation 3, made at a.cu:9 (40 bytes)". `shared` is whether the
    /// address is in shared memory. An array that the kernel does not declare itself is
    /// described with the function that declares it.
    std::string describe(uintptr_t at, bool shared);

  private:
    const uint64_t last_untracked_ = last_allocation();
    std::atomic<bool> memory_changed_{false};
    std::vector<Allocation> recent_;
};

/// The bytes of one access.
struct AccessedRange {
    uintptr_t at = 0;
    size_t bytes = 0;
    bool shared = false;   // in shared memory
    bool tracked = false;  // whether all writes to the memory were checked
    uintptr_t word = 0;    // the address of the word that is being checked
};

/// The operations of all devices; one runs at a time.
class RaceChecker {
  public:
    /// REQUIRES: the arguments outlive this object.
    RaceChecker(Findings& findings, MemoryMap& memory)
        : findings_(findings), memory_(memory) {}

    /// Begins an operation.
    void begin(const Operation& operation);
    /// Begins a block of the running kernel.
    void begin_block(uint32_t block, unsigned threads);

    /// Returns the running operation.
    const Operation& operation() const { return *running_; }
    /// Returns the short name of the running kernel, or "a copy", or "a fill".
    const std::string& name() const { return records_[number_].name; }
    /// Returns the order of the accesses of the running kernel.
    BlockOrder& order() { return order_; }

    /// Returns the running thread, or the running copy or fill, as the place that
    /// executes the instruction or call at `address`.
    Place current(const void* address) const;

    /// Checks one access of the running thread, and records it. Two atomic accesses do not
    /// race.
    void visit(const AccessedRange& range, Mode mode, bool atomic, const void* address);

    /// Checks the running copy or fill, which accesses all its bytes in one step.
    void visit_copy();

    /// Reports the writes that followed another thread's write without an order: as a race,
    /// or as a note if they did not change the value. Called before the next access of any
    /// thread and at the end of a block, when the last write is done.
    void settle() {
        if (!conflicts_.empty()) report_conflicts();
    }

    /// Records that a mistake has ended the running operation, as on a GPU.
    void abandon() { is_abandoned_ = true; }
    bool is_abandoned() const { return is_abandoned_; }

  private:
    static constexpr size_t kFewAccesses = 1'000'000;

    // An operation. Kept after its end, because accesses refer to it.
    struct Record {
        std::string name = {};
        Stamp stamp = {};
        dim3 grid = {}, block = {};
        bool is_kernel = false;
        const void* call = nullptr;  // that submitted the operation
    };
    // A plain write after another thread's plain write, and the value before it.
    struct Conflict {
        Accessor earlier, now;
        AccessedRange range;
        uint32_t value = 0;
    };

    Accessor thread_access(bool atomic, const void* address);
    Place party(const Access& access, uint32_t lanes) const;
    uint32_t unordered_lanes(const Access& earlier, uint32_t lanes) const;
    void forget_accesses();

    template <typename Visit>
    void each_word(const AccessedRange& range, const Visit& visit);
    void visit(AccessedRange range, Mode mode, Accessor now);
    bool follows_own_write(Accessor atomic, Accessor write) const;
    void keep_read(Cell& cell, Accessor now);
    void check_order(Accessor earlier, bool earlier_wrote, Accessor now, Mode mode,
                     const AccessedRange& range);
    void report_conflicts();
    void report(Mistake mistake, Accessor earlier, const char* did, Accessor now,
                const std::string& what, const AccessedRange& range);
    void copy_initialised(uintptr_t to, uintptr_t from, size_t bytes);

    Findings& findings_;
    MemoryMap& memory_;

    const Operation* running_ = nullptr;
    bool is_abandoned_ = false;
    uint32_t number_ = 0;             // of the running operation
    std::vector<Record> records_{1};  // by Access::operation; [0] is unused
    BlockOrder order_;

    std::vector<Access> accesses_ = std::vector<Access>(1);  // by number; 0 means none
    std::array<uint32_t, 1024> recent_{};  // numbers, by the address of the instruction
    size_t first_of_block_ = 1;  // the first number that an access of the block can have
    size_t max_accesses_ = kFewAccesses;
    Shadow shadow_;
    std::vector<Conflict> conflicts_;  // of the last access
};

}  // namespace mini::sim
