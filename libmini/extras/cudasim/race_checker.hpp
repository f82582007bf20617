// Records the kernels, copies and fills, and their accesses. Keeps the last accesses of each
// address in shadow memory, and reports reads of uninitialised memory and accesses that no
// barrier, event or wait orders.

#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

// Shadow memory: for each 4 bytes that kernels access, the last write, the reads since
// then, and which bytes were ever written: 44 bytes, or 11 for each byte of memory.
//
// What the lanes of a warp have in common is kept once, as an Access; a word names it by
// its number.

/// One load or store by lanes of a warp at the same clock, or by a copy or a fill.
struct Access {
    uint32_t operation = 0;  // 0: no access
    uint32_t block = 0;
    uint32_t interval = 0;  // number of block barriers before the access
    uint32_t clock = 0;     // number of the lane's warp operations before it, plus 1
    uint16_t warp = 0;      // in the block
    bool atomic = false;
    const void* address = nullptr;  // of the instruction

    bool operator==(const Access&) const = default;
};

/// The lanes that made an access to a word. A copy or a fill is lane 0.
struct Accessor {
    uint32_t access : 28 = 0;  // number of the access; 0: none
    uint32_t bytes : 4 = 0;    // bit i: byte i of the word
    uint32_t lanes = 0;        // bit i: lane i of the warp
};

/// The state of 4 bytes of memory.
struct Cell {
    Accessor write;
    std::array<Accessor, 4> reads;  // since the write, not ordered with each other
    uint8_t initialised = 0;        // bit i: byte i of the four
};

/// A cell for every 4 bytes of memory; pages of cells are created on first use.
class Shadow {
  public:
    Cell& at(uintptr_t address) {
        const uintptr_t number = address / kPageBytes;
        Recent& recent = recent_[number % recent_.size()];
        if (recent.number != number) {
            auto& page = pages_[number];
            if (page == nullptr) page = std::make_unique<Page>();
            recent = {number, page.get()};
        }
        return (*recent.page)[address % kPageBytes / 4];
    }

    bool is_initialised(uintptr_t byte) {
        return (at(byte / 4 * 4).initialised >> byte % 4 & 1) != 0;
    }

    /// Calls visit(accessor) for each accessor of each cell.
    template <typename Visit>
    void each_accessor(const Visit& visit) {
        for (auto& [number, page] : pages_)
            for (Cell& cell : *page) {
                visit(cell.write);
                for (Accessor& read : cell.reads) visit(read);
            }
    }

  private:
    static constexpr uintptr_t kPageBytes = 4096;
    using Page = std::array<Cell, kPageBytes / 4>;
    struct Recent {
        uintptr_t number = 0;  // no memory lies in page 0
        Page* page = nullptr;
    };

    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    std::array<Recent, 256> recent_;  // by number % 256
};

// The order of the accesses of one launch. An earlier access happens before a later
// access of the same thread, and before a later access of
//
//     another thread of the block    after a __syncthreads()
//     another lane of the warp       also after a __syncwarp(), shuffle or vote of both
//     any other thread               after an atomic on an address on which a thread
//                                    executed an atomic, if the earlier access happens
//                                    before a fence that happens before that atomic
//
// A fence does not order the writes that follow it. An atomic orders only its own thread,
// and a barrier passes the order on. CUDA asks for a second fence, which is not checked.
//
// Lanes have vector clocks (Lamport 1978, Mattern 1989): clocks_[t][l] is the number of
// warp operations and fences of lane l, in t's warp, that happened before t's next
// access.

class BlockOrder {
  public:
    void begin_launch() { published_.clear(); }
    void begin_block(uint32_t block, unsigned threads);

    void block_met();
    void warp_met(unsigned thread, unsigned mask);
    void fence(unsigned thread, Scope scope);
    /// `shared` is whether the address is in the block's shared memory.
    void atomic(unsigned thread, uintptr_t address, bool shared);

    uint32_t block() const { return block_; }
    uint32_t interval() const { return interval_; }
    uint32_t clock(unsigned thread) const { return clocks_[thread][thread % 32]; }

    /// Returns those of the `lanes` that made an earlier access of this launch whose access
    /// does not happen before `thread`'s next access.
    uint32_t unordered_lanes(const Access& earlier, uint32_t lanes,
                             unsigned thread) const;

  private:
    // The accesses of one block that happen before some point.
    struct Past {
        uint32_t interval = 0;         // all accesses of earlier intervals
        std::vector<uint32_t> clocks;  // by thread: its accesses up to this clock
    };
    using Pasts = std::map<uint32_t, std::shared_ptr<const Past>>;  // by block

    // What atomics have ordered before a thread's next access, and the part of its past
    // that its next atomic publishes to the block and to the device.
    struct Knowledge {
        Pasts past, for_block, for_device;
    };

    static void join(Pasts& into, const Pasts& from);
    static void join(Knowledge& into, const Knowledge& from);
    bool knows(unsigned thread, const Access& earlier, unsigned lane) const;
    Pasts past_of(unsigned thread) const;

    uint32_t block_ = 0;
    uint32_t interval_ = 0;
    std::vector<std::array<uint32_t, 32>> clocks_;  // by thread, by lane of its warp
    bool has_fences_ = false;         // whether the next two contain anything
    std::vector<Knowledge> threads_;  // since the last barrier
    Knowledge common_;                // of all threads, at the last barrier
    // By address: the pasts that atomics have published, to this block and to all.
    std::unordered_map<uintptr_t, Pasts> published_here_, published_;
};

/// Returns "allocation 3", and the source lines that made and freed it if they are known.
std::string name(const Allocation& allocation);
/// Describes an address that is in no allocation, relative to the allocation `before` it,
/// or to the next allocation if that is nearer.
std::string place_outside(uintptr_t at, const Allocation& before);

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

    /// Returns the allocation that find_allocation() (memory.hpp) finds for an address. The
    /// reference is valid until the next call.
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
    /// All accesses of the running kernel until now happen before all later ones.
    void grid_met();

    /// Returns the running operation.
    const Operation& operation() const { return *running_; }
    /// Returns the short name of the running kernel, or "a copy", or "a fill".
    const std::string& name() const { return records_[number_].name; }
    /// Returns the order of the accesses of the running kernel.
    BlockOrder& order() { return order_; }

    /// Returns a thread of the running block, or the running copy or fill, as the place that
    /// executes the instruction or call at `address`; current(), for the running thread.
    Place place(const void* address, unsigned thread) const {
        return party({.operation = number_, .block = order_.block(), .address = address},
                     thread);
    }
    Place current(const void* address) const {
        return place(address, running_->launch ? running().thread : 0);
    }

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
    Place party(const Access& access, unsigned thread) const;
    // Of the lowest lane.
    Place party(Accessor by) const {
        const unsigned first = accesses_[by.access].warp * 32u;
        return party(accesses_[by.access], first + std::countr_zero(by.lanes));
    }
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
    void check_written(const Operation& copy);
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
