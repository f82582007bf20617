#include "libmini/extras/fast/shared_memory_all_reduce.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/fast/shared_blocks.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::fast {
namespace {

using dist::Elements, dist::GroupTransport, dist::ReduceOp;

// A piece of a chunk, which stays in the first-level cache of a core.
constexpr size_t kPieceBytes = 8 << 10;

thread_local PeerBlocks peers;  // one for each thread that runs all-reduces

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
        return peers.at(where, bytes);
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

// Finishes this rank's chunk, `offset` bytes into the data, in the memory of all ranks.
void finish_chunk(GroupTransport& transport, Elements mine, std::vector<BlockBytes> all,
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

}  // namespace

bool shared_memory_all_reduce(GroupTransport& transport, Elements data, ReduceOp op) {
    const auto P = static_cast<size_t>(transport.world_size());
    const std::vector<BlockBytes> all = exchange(transport, find(data.bytes));
    if (P == 1 || !std::ranges::all_of(all, &BlockBytes::are_in_block)) return false;
    // As in the ring, this rank finishes chunk rank + 1.
    const Elements mine = data.part((static_cast<size_t>(transport.rank()) + 1) % P, P);
    finish_chunk(transport, mine, all,
                 static_cast<size_t>(mine.bytes.data() - data.bytes.data()), op);
    exchange(transport, {});  // all ranks have finished their chunks
    return true;
}

void share_memory(const Tensor& tensor) {
    if (!tensor.device().is_cpu() || tensor.bytes() <= dist::kSmallBytes) return;
    try {
        tensor.move_storage(allocate_block(tensor.storage_bytes()));
    } catch (const Error&) {  // no memory or descriptor left: the ring does
    }
}

}  // namespace mini::fast
