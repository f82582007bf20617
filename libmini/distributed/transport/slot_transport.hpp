// SlotTransport: the memory that a rank shares with every other rank, for a collective
// that works in this memory instead of sending messages.
//
//     start_slot(to), fill it, send_slot(to)  ->  recv_slot(from), work in it,
//     take_slot(to): read the result          <-  return_slot(from)
//
// MeshTransport implements it with the slot queues of its channels (slot_queue.hpp). The
// blocking functions throw as those of Transport do: a rank that dies, is silent or runs
// another collective is found in the same way.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/transport/shared_place.hpp"

namespace mini::dist {

class SlotTransport {
  public:
    virtual ~SlotTransport() = default;

    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// Returns the bytes of the next slot for rank `to`. REQUIRES: fewer than
    /// SlotQueue::kSlots slots are with rank `to`.
    virtual std::span<std::byte> start_slot(int to) = 0;

    /// Sends that slot, with its first `bytes` bytes, to rank `to`. Never blocks.
    virtual void send_slot(int to, size_t bytes) = 0;

    /// Returns how many slots are with rank `to`: sent, and not taken yet.
    virtual size_t slots_out(int to) const = 0;

    /// Returns the first `bytes` bytes of the oldest slot with rank `to`; blocks until
    /// that rank has returned it. They are valid until start_slot() returns that slot
    /// again. REQUIRES: there is one.
    virtual std::span<std::byte> take_slot(int to, size_t bytes) = 0;

    /// Returns the bytes of the next slot from rank `from`, which this rank may change;
    /// blocks until it is there. Throws MismatchedCollective if the slot belongs to
    /// another collective, and Error if it does not hold `bytes` bytes.
    virtual std::span<std::byte> recv_slot(int from, size_t bytes) = 0;

    /// Returns that slot to rank `from`. `moved`: the number of bytes that this rank has
    /// written for rank `from`, or read from its heap. Never blocks.
    virtual void return_slot(int from, size_t moved) = 0;

    // Data in the heaps of the ranks (shared_heap.hpp) need no slots: a rank reads and
    // writes them where they are. A slot without bytes says where that is.

    /// Returns where `bytes` are in this rank's heap.
    virtual SharedPlace place_of(std::span<const std::byte> bytes) const = 0;

    /// Sends the next slot to rank `to`, without bytes. Never blocks. REQUIRES: fewer
    /// than SlotQueue::kSlots slots are with rank `to`.
    virtual void send_place(int to, const SharedPlace& place) = 0;

    /// Returns the place in the next slot from rank `from`; blocks, and throws, as
    /// recv_slot() does. return_slot() returns the slot.
    virtual SharedPlace recv_place(int from) = 0;

    /// Returns the `bytes` bytes at `place` of the heap of rank `other`. Throws Error if
    /// they cannot be mapped.
    virtual std::span<std::byte> at(int other, const SharedPlace& place,
                                    size_t bytes) = 0;
};

}  // namespace mini::dist
