#include "libmini/distributed/collectives/shared_memory_all_reduce.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/transport/slot_queue.hpp"

namespace mini::dist {
namespace {

static_assert(kSmallSharedBytes <= SlotQueue::kSlotBytes);

// A slice is finished in pieces that stay in the first-level cache of a core.
constexpr size_t kPieceBytes = 4 << 10;

// Takes slots of earlier calls, which the other ranks have returned or are about to
// return, until at most `limit` slots are with each other rank.
void take_old_slots(SlotTransport& slots, size_t limit) {
    for (int other = 0; other < slots.world_size(); ++other)
        while (other != slots.rank() && slots.slots_out(other) > limit)
            slots.take_slot(other, 0);
}

// Copies `data` to a slot, prepares the copy for the reduction, and sends the slot.
void send(SlotTransport& slots, int to, Elements data, ReduceOp op) {
    const Elements slot(slots.start_slot(to).first(data.bytes.size()), data.dtype);
    copy(slot, data);
    prepare_reduce(slot, slots.world_size(), op);
    slots.send_slot(to, data.bytes.size());
}

// ---- small buffers

// Combines the buffers of all ranks, by rank, in the order of recursive doubling. The
// result is in the first buffer.
void combine_all(std::span<std::byte* const> buffers, const Combine& combine,
                 size_t count) {
    const size_t P = buffers.size(), Q = std::bit_floor(P);
    for (size_t r = 0; r + Q < P; ++r) combine.apply(buffers[r], buffers[r + Q], count);
    for (size_t bit = 1; bit < Q; bit *= 2)
        for (size_t r = 0; r + bit < Q; r += 2 * bit)
            combine.apply(buffers[r], buffers[r + bit], count);
}

void reduce_small(SlotTransport& slots, Elements data, ReduceOp op) {
    const int P = slots.world_size(), rank = slots.rank();
    // Do not wait until the others have returned the slots of the last call: a rank that
    // has to wait for a core would hold up this one.
    take_old_slots(slots, SlotQueue::kSlots - 1);
    for (int step = 1; step < P; ++step) send(slots, (rank + step) % P, data, op);
    prepare_reduce(data, P, op);

    // Combine in the slots: this rank is the only one that reads them.
    std::vector<std::byte*> buffers(static_cast<size_t>(P), data.bytes.data());
    for (int other = 0; other < P; ++other)
        if (other != rank)
            buffers[static_cast<size_t>(other)] =
                slots.recv_slot(other, data.bytes.size()).data();
    combine_all(buffers, combine_for(data.dtype, op), data.size());
    copy(data, {{buffers.front(), data.bytes.size()}, data.dtype});
    finish_reduce(data, P, op);
    for (int other = 0; other < P; ++other)
        if (other != rank) slots.return_slot(other, 0);
}

// ---- large buffers, slice by slice

// The slices of a large buffer: slice s of the chunk that a rank finishes.
class Slices {
  public:
    Slices(Elements data, int P) : data_(data), P_(static_cast<size_t>(P)) {
        const size_t largest = (data.size() + P_ - 1) / P_ * item_size(data.dtype);
        count_ = (largest + SlotQueue::kSlotBytes - 1) / SlotQueue::kSlotBytes;
    }

    /// Returns the number of slices of each chunk.
    size_t count() const { return count_; }

    /// Returns slice `s` of the chunk that rank `owner` finishes, which is chunk
    /// owner + 1, as in the ring.
    Elements at(int owner, size_t s) const {
        return data_.part((static_cast<size_t>(owner) + 1) % P_, P_).part(s, count_);
    }

  private:
    Elements data_;
    size_t P_;
    size_t count_;
};

// Combines `mine` with the bytes of the other ranks, `theirs`, in the order of the ring:
// rank + 1 first, this rank last. Writes the result to all of them.
void combine_in_order(Elements mine, std::span<std::byte* const> theirs, ReduceOp op) {
    const int P = static_cast<int>(theirs.size()) + 1;
    const Combine combine = combine_for(mine.dtype, op);
    const size_t piece = kPieceBytes / item_size(mine.dtype);
    for (size_t begin = 0; begin < mine.size(); begin += piece) {
        const Elements sum = mine.slice(begin, std::min(piece, mine.size() - begin));
        const size_t at = begin * item_size(mine.dtype);
        for (size_t i = 1; i < theirs.size(); ++i)
            combine.apply(theirs[i] + at, theirs[i - 1] + at, sum.size());
        combine.apply(sum.bytes.data(), theirs.back() + at, sum.size());
        finish_reduce(sum, P, op);
        for (std::byte* const other : theirs)
            std::memcpy(other + at, sum.bytes.data(), sum.bytes.size());
    }
}

// Reduces this rank's slice, and returns the result to all other ranks.
void reduce_slice(SlotTransport& slots, Elements mine, ReduceOp op) {
    const int P = slots.world_size(), rank = slots.rank();
    const size_t bytes = mine.bytes.size();
    prepare_reduce(mine, P, op);
    std::vector<std::byte*> theirs;
    for (int step = 1; step < P; ++step)
        theirs.push_back(slots.recv_slot((rank + step) % P, bytes).data());
    combine_in_order(mine, theirs, op);
    for (int step = 1; step < P; ++step) slots.return_slot((rank + step) % P, bytes);
}

void reduce_in_slots(SlotTransport& slots, Elements data, ReduceOp op) {
    const int P = slots.world_size(), rank = slots.rank();
    const Slices slices(data, P);

    // While the other ranks finish their slices s - 1, send slices s to them.
    for (size_t s = 0; s < slices.count() + 2; ++s) {
        for (int step = 1; step < P && s < slices.count(); ++step) {
            const int owner = (rank + step) % P;
            send(slots, owner, slices.at(owner, s), op);
        }
        if (s >= 1 && s <= slices.count())
            reduce_slice(slots, slices.at(rank, s - 1), op);
        for (int step = 1; step < P && s >= 2; ++step) {
            const int owner = (rank + step) % P;
            const Elements finished = slices.at(owner, s - 2);
            copy(finished, {slots.take_slot(owner, finished.bytes.size()), data.dtype});
        }
    }
}

// ---- large buffers in the heaps of all ranks

// Tells the other ranks where this rank's data are. Returns where theirs are, by the
// number of steps to the rank; nothing if the data of any rank are not in its heap. The
// other ranks' slots are not returned yet.
std::vector<SharedPlace> exchange_places(SlotTransport& slots, Elements data) {
    const int P = slots.world_size(), rank = slots.rank();
    const SharedPlace mine = slots.place_of(data.bytes);
    for (int step = 1; step < P; ++step) slots.send_place((rank + step) % P, mine);
    std::vector<SharedPlace> places;
    for (int step = 1; step < P; ++step)
        places.push_back(slots.recv_place((rank + step) % P));
    if (!mine.is_in_heap() || !std::ranges::all_of(places, &SharedPlace::is_in_heap))
        places.clear();
    return places;
}

// Reduces this rank's chunk, as in the ring, where the data of all ranks are. Returns how
// many bytes it has read from, and written to, each other rank.
size_t reduce_in_place(SlotTransport& slots, const std::vector<SharedPlace>& places,
                       Elements data, ReduceOp op) {
    const int P = slots.world_size(), rank = slots.rank();
    const Elements mine =
        data.part(static_cast<size_t>((rank + 1) % P), static_cast<size_t>(P));
    const auto begin = static_cast<size_t>(mine.bytes.data() - data.bytes.data());
    prepare_reduce(mine, P, op);
    std::vector<std::byte*> theirs;
    for (int step = 1; step < P; ++step) {
        const auto bytes = slots.at(
            (rank + step) % P, places[static_cast<size_t>(step - 1)], data.bytes.size());
        const auto chunk = bytes.subspan(begin, mine.bytes.size());
        prepare_reduce({chunk, data.dtype}, P, op);
        theirs.push_back(chunk.data());
    }
    combine_in_order(mine, theirs, op);
    return 2 * mine.bytes.size();
}

// ---- large buffers

void reduce_large(SlotTransport& slots, Elements data, ReduceOp op) {
    const int P = slots.world_size(), rank = slots.rank();
    take_old_slots(slots, 0);
    const std::vector<SharedPlace> places = exchange_places(slots, data);
    size_t moved = 0;  // from and to each other rank
    if (!places.empty()) moved = reduce_in_place(slots, places, data, op);
    for (int step = 1; step < P; ++step) slots.return_slot((rank + step) % P, moved);
    take_old_slots(slots, 0);  // until the other ranks have finished their chunks
    if (places.empty()) reduce_in_slots(slots, data, op);
}

}  // namespace

void shared_memory_all_reduce(SlotTransport& slots, Elements data, ReduceOp op) {
    if (slots.world_size() == 1) {
        prepare_reduce(data, 1, op);
        finish_reduce(data, 1, op);
    } else if (data.bytes.size() <= kSmallSharedBytes) {
        reduce_small(slots, data, op);
    } else {
        reduce_large(slots, data, op);
    }
}

}  // namespace mini::dist
