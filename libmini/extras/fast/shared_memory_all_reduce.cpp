#include "libmini/extras/fast/shared_memory_all_reduce.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/all_reduce.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/fast/shared_blocks.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::fast {
namespace {

using dist::Elements, dist::GroupTransport, dist::ReduceOp;

// A slice of a chunk, and a piece of a slice, which stays in the first-level cache of a core.
constexpr size_t kSliceBytes = 64 << 10;
constexpr size_t kPieceBytes = 4 << 10;

// A half of the memory for slices: one slice of each rank's chunk.
constexpr size_t kHalfBytes = kMaxRanks * kSliceBytes;

// What the thread of a group keeps between two all-reduces.
struct Workspace {
    PeerBlocks peers;
    std::shared_ptr<std::byte> slices;  // two halves; null before the first use
};
thread_local Workspace workspace;

// Calls body(other) for each other rank, in the order in which a chunk passes them in the
// ring.
void for_others(const GroupTransport& transport, const auto& body) {
    for (int step = 1; step < transport.world_size(); ++step)
        body((transport.rank() + step) % transport.world_size());
}

// Tells the other ranks where this rank's data are, and that they may be used. Blocks until
// all have done so. Returns where theirs are, by rank.
std::vector<BlockBytes> exchange(GroupTransport& transport, const BlockBytes& mine) {
    std::vector<BlockBytes> all(static_cast<size_t>(transport.world_size()), mine);
    for_others(transport, [&](int other) {
        transport.send(other, std::as_bytes(std::span(&mine, 1)));
    });
    for_others(transport, [&](int other) {
        BlockBytes& theirs = all[static_cast<size_t>(other)];
        transport.recv(other, std::as_writable_bytes(std::span(&theirs, 1)));
    });
    return all;
}

// Returns the bytes of rank `other`. The memory of a rank that has ended cannot be mapped:
// then the receive throws PeerLost.
std::span<std::byte> map(GroupTransport& transport, int other, const BlockBytes& where,
                         size_t bytes) {
    try {
        return workspace.peers.at(where, bytes);
    } catch (const Error&) {
        BlockBytes done;
        transport.recv(other, std::as_writable_bytes(std::span(&done, 1)));
        throw;
    }
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

// The slices of the data: slice s of the chunk that a rank finishes.
class Slices {
  public:
    Slices(Elements data, int P) : data_(data), P_(static_cast<size_t>(P)) {
        const size_t largest = (data.size() + P_ - 1) / P_ * item_size(data.dtype);
        count_ = (largest + kSliceBytes - 1) / kSliceBytes;
    }

    /// Returns the number of slices of each chunk.
    size_t count() const { return count_; }

    /// Returns the chunk that rank `owner` finishes, which is chunk owner + 1, as in the
    /// ring; and slice `s` of it.
    Elements chunk(int owner) const {
        return data_.part((static_cast<size_t>(owner) + 1) % P_, P_);
    }
    Elements at(int owner, size_t s) const { return chunk(owner).part(s, count_); }

  private:
    Elements data_;
    size_t P_;
    size_t count_;
};

// Finishes this rank's chunk, or a slice of it, also in the memory of the other ranks:
// `offset` bytes after the bytes that `all` names by rank.
void reduce_chunk(GroupTransport& transport, Elements mine, std::vector<BlockBytes> all,
                  size_t offset, ReduceOp op) {
    const int P = transport.world_size();
    std::vector<std::byte*> chunks;
    prepare_reduce(mine, P, op);
    for_others(transport, [&](int other) {
        BlockBytes& theirs = all[static_cast<size_t>(other)];
        theirs.offset += offset;
        const auto chunk = map(transport, other, theirs, mine.bytes.size());
        prepare_reduce({chunk, mine.dtype}, P, op);
        chunks.push_back(chunk.data());
        transport.count_sent(2 * chunk.size());
    });
    combine_in_order(mine, chunks, op);
}

// Reduces data of which some rank's are in no block.
void reduce_in_slices(GroupTransport& transport, Elements data, ReduceOp op) {
    if (!workspace.slices) workspace.slices = allocate_block(2 * kHalfBytes);
    const int rank = transport.rank();
    const Slices slices(data, transport.world_size());
    const auto half = [&](size_t s) {
        return workspace.slices.get() + s % 2 * kHalfBytes;
    };
    const auto offset_of = [](int owner) {
        return static_cast<size_t>(owner) * kSliceBytes;
    };
    const auto in_half = [&](int owner, size_t s) {
        const Elements slice = slices.at(owner, s);
        return Elements({half(s) + offset_of(owner), slice.bytes.size()}, slice.dtype);
    };

    for (size_t s = 0; s <= slices.count(); ++s) {
        const bool is_last = s == slices.count();
        if (!is_last)
            for_others(transport,
                       [&](int owner) { copy(in_half(owner, s), slices.at(owner, s)); });

        // Wait until all have done so, and have finished their slices s - 1.
        const auto all = exchange(transport, find({half(s), kHalfBytes}));
        if (!is_last)
            reduce_chunk(transport, slices.at(rank, s), all, offset_of(rank), op);
        if (s == 0) continue;
        for_others(transport, [&](int owner) {
            copy(slices.at(owner, s - 1), in_half(owner, s - 1));
        });
    }
}

}  // namespace

void shared_memory_all_reduce(GroupTransport& transport, Elements data, ReduceOp op) {
    if (transport.world_size() == 1) return ring_all_reduce(transport, data, op);
    const std::vector<BlockBytes> all = exchange(transport, find(data.bytes));
    if (!std::ranges::all_of(all, &BlockBytes::are_in_block))
        return reduce_in_slices(transport, data, op);
    const Elements chunk = Slices(data, transport.world_size()).chunk(transport.rank());
    reduce_chunk(transport, chunk, all,
                 static_cast<size_t>(chunk.bytes.data() - data.bytes.data()), op);
    exchange(transport, {});  // all ranks have finished their chunks
}

void share_memory(const Tensor& tensor) {
    if (!tensor.device().is_cpu() || tensor.bytes() <= dist::kSmallBytes) return;
    try {
        tensor.move_storage(allocate_block(tensor.storage_bytes()));
    } catch (const Error&) {  // no memory or descriptor left: slices do
    }
}

}  // namespace mini::fast
