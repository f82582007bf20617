#include "libmini/extras/fast/shared_memory_all_reduce.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/collectives/ring_all_reduce.hpp"

namespace mini::fast {
namespace {

using dist::Elements, dist::GroupTransport, dist::ReduceOp;

// A slice is finished in pieces that stay in the first-level cache of a core.
constexpr size_t kPieceBytes = 4 << 10;

// The slices of the data: slice s of the chunk that a rank finishes.
class Slices {
  public:
    Slices(Elements data, int P) : data_(data), P_(static_cast<size_t>(P)) {
        const size_t largest = (data.size() + P_ - 1) / P_ * item_size(data.dtype);
        count_ = (largest + kSlotBytes - 1) / kSlotBytes;
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

// Returns the slot for slice `s` that rank `from` fills, between this rank and `other`.
std::byte* slot(GroupTransport& transport, int other, int from, size_t s) {
    const int higher = std::max(transport.rank(), other);
    const size_t index = (from == higher ? 2 : 0) + s % 2;
    return transport.shared_with(other).data() + index * kSlotBytes;
}

// Copies this rank's slice to the slot of its owner, prepared for the reduction.
void fill_slot(GroupTransport& transport, int owner, Elements slice, size_t s,
               ReduceOp op) {
    std::byte* const bytes = slot(transport, owner, transport.rank(), s);
    const Elements filled({bytes, slice.bytes.size()}, slice.dtype);
    copy(filled, slice);
    prepare_reduce(filled, transport.world_size(), op);
    transport.count_sent(slice.bytes.size());
}

// Combines `mine` with the bytes of the other ranks, `theirs`, in the order of the ring:
// rank + 1 first, this rank last. Writes the result to all of them.
void combine_in_order(Elements mine, std::span<std::byte* const> theirs, ReduceOp op) {
    const int P = static_cast<int>(theirs.size()) + 1;
    const dist::Combine combine = combine_for(mine.dtype, op);
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

// Finishes this rank's slice, in the slots of all other ranks too.
void reduce_slice(GroupTransport& transport, Elements mine, size_t s, ReduceOp op) {
    const int P = transport.world_size(), rank = transport.rank();
    prepare_reduce(mine, P, op);
    std::vector<std::byte*> theirs;
    for (int step = 1; step < P; ++step) {
        const int other = (rank + step) % P;
        theirs.push_back(slot(transport, other, other, s));
        transport.count_sent(mine.bytes.size());
    }
    combine_in_order(mine, theirs, op);
}

}  // namespace

void shared_memory_all_reduce(GroupTransport& transport, Elements data, ReduceOp op) {
    const int P = transport.world_size(), rank = transport.rank();
    if (P == 1) return ring_all_reduce(transport, data, op);
    const Slices slices(data, P);
    const auto for_others = [&](const auto& body) {
        for (int step = 1; step < P; ++step) body((rank + step) % P);
    };

    for (size_t s = 0; s <= slices.count(); ++s) {
        // Give slice s of each other rank's chunk to that rank.
        const bool is_last = s == slices.count();
        if (!is_last)
            for_others([&](int other) {
                fill_slot(transport, other, slices.at(other, s), s, op);
            });

        // Wait until all have done so, and have finished their slices s - 1.
        for_others([&](int other) { transport.send(other, {}); });
        for_others([&](int other) { transport.recv(other, {}); });

        if (!is_last) reduce_slice(transport, slices.at(rank, s), s, op);
        if (s == 0) continue;
        for_others([&](int other) {
            const Elements done = slices.at(other, s - 1);
            copy(done,
                 {{slot(transport, other, rank, s - 1), done.bytes.size()}, done.dtype});
        });
    }
}

}  // namespace mini::fast
