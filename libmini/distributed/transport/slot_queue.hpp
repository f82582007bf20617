// A queue of slots in memory that two ranks share. Rank A fills a slot; rank B works on
// its bytes where they are and returns the slot; rank A reads the result in it.
//
//     rank A   fill 0   fill 1   fill 2   read 0   fill 3   read 1   ...
//     slots    | 0 A->B->A | 1 A->B | 2 A-> | 3 free |
//     rank B            work 0   work 1   work 2   ...
//
// Each slot begins with two cache lines: `filled` and the head, which A writes, and
// `returned`, which B writes. Both count the slots of the queue since the start, so no
// flag has to be reset. A slot that holds a few bytes reaches the other rank in the time
// in which two cache lines move from core to core.
//
// Lock-free. A side that is about to sleep sets its flag and then looks at the slot once
// more; the other side publishes the slot and then reads this flag (byte_ring.hpp).

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/shared_place.hpp"

namespace mini::dist {

/// The ranks of a larger mesh have no slots, which are a fifth of a channel's memory. With
/// more than kMaxHeapRanks ranks, an all_reduce uses slots only if the caller asks for it.
constexpr int kMaxSlotRanks = 16;

/// One side of a queue: call only the functions of rank A or only those of rank B.
class SlotQueue {
  public:
    /// The bytes of one slot, and the number of slots. Together they fit in the cache of
    /// a core, so that rank B's data are still in a cache when rank A reads them.
    static constexpr size_t kSlotBytes = 32 << 10;
    static constexpr size_t kSlots = 4;

    /// What a slot holds.
    struct Head {
        Collective collective;
        uint64_t bytes = 0;
        SharedPlace place = {};  // of data that are not in the slot
    };

    /// REQUIRES: `memory` has memory_bytes() bytes, initially zero, aligned to a cache
    /// line; it outlives the queue.
    explicit SlotQueue(std::span<std::byte> memory);

    static constexpr size_t memory_bytes() { return sizeof(Layout); }

    // Rank A's side.

    /// Returns the bytes of the next slot to fill. REQUIRES: fewer than kSlots slots are
    /// out.
    std::span<std::byte> next();

    /// Sends that slot to rank B. Returns true if rank B sleeps and the caller must wake
    /// it.
    bool fill(const Head& head);

    /// Returns how many slots are out: filled, and not taken yet.
    size_t out() const { return filled_ - taken_; }

    /// Returns whether rank B has returned the oldest slot that is out.
    bool is_returned() const;

    /// Takes that slot and returns its bytes, which are valid until next() returns the
    /// slot again. REQUIRES: is_returned().
    std::span<std::byte> take();

    /// Sets or clears rank A's flag. Call with true before the last is_returned(), and
    /// with false after the sleep.
    void set_filler_sleeps(bool sleeps) { layout_->filler_sleeps.store(sleeps); }

    // Rank B's side.

    /// Returns whether rank A has filled the next slot.
    bool is_filled() const;

    /// Return what that slot holds, and its bytes. REQUIRES: is_filled().
    const Head& head() const { return slot(returned_).head; }
    std::span<std::byte> bytes() { return slot(returned_).bytes; }

    /// Returns that slot to rank A. Returns true if rank A sleeps and the caller must
    /// wake it.
    bool give_back();

    /// Sets or clears rank B's flag. Call with true before the last is_filled(), and with
    /// false after the sleep.
    void set_worker_sleeps(bool sleeps) { layout_->worker_sleeps.store(sleeps); }

  private:
    static constexpr size_t kLine = 64;  // a cache line

    struct Slot {
        alignas(kLine) std::atomic<uint64_t> filled;
        Head head;
        alignas(kLine) std::atomic<uint64_t> returned;
        alignas(kLine) std::byte bytes[kSlotBytes];
    };

    struct Layout {
        alignas(kLine) std::atomic<uint32_t> filler_sleeps;
        alignas(kLine) std::atomic<uint32_t> worker_sleeps;
        Slot slots[kSlots];
    };
    static_assert(std::atomic<uint64_t>::is_always_lock_free);

    Slot& slot(uint64_t number) const { return layout_->slots[number % kSlots]; }

    Layout* layout_;
    uint64_t filled_ = 0, taken_ = 0;  // rank A's counts
    uint64_t returned_ = 0;            // rank B's count
};

/// The two queues of a pair of ranks, seen from one of them.
struct SlotQueues {
    SlotQueue out;  // this rank fills
    SlotQueue in;   // the other rank fills
};

}  // namespace mini::dist
