#include "libmini/distributed/collectives/collectives.hpp"

#include <algorithm>
#include <vector>

#include "libmini/distributed/collectives/fold.hpp"
#include "libmini/distributed/collectives/reduce.hpp"

// [lab11 file]
namespace mini::dist {

void naive_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const int P = transport.world_size();
    // [lab11.1] Reduce all buffers on rank 0, which sends the result back.
    prepare_reduce(data, P, op);
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
    finish_reduce(data, P, op);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
    // [lab11.1]
}

void tree_broadcast(Transport& transport, std::span<std::byte> data, int root) {
    const int P = transport.world_size();
    const int relative_rank = (transport.rank() - root + P) % P;
    const auto rank_at = [&](int relative) { return (relative + root) % P; };

    // [lab11.2] Receive from the parent, then send to the children, the farthest first.
    // Clearing the lowest set bit of a relative rank gives its parent: the parent of 6
    // = 110 is 4 = 100.
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - bit), data);

    // Setting one bit below that bit gives a child: the only child of 6 = 110 is 7 = 111.
    // Send to the farthest child first: its subtree is the largest.
    for (bit /= 2; bit > 0; bit /= 2)
        if (relative_rank + bit < P) transport.send(rank_at(relative_rank + bit), data);
    // [lab11.2]
}

void tree_reduce(Transport& transport, Elements data, ReduceOp op, int root) {
    const int P = transport.world_size();
    const int relative_rank = (transport.rank() - root + P) % P;
    const auto rank_at = [&](int relative) { return (relative + root) % P; };

    // [lab11.2] Combine the children's data, nearest first, and send it to the parent.
    const Combine combine = combine_for(data.dtype, op);
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);
    // [lab11.2]
}

void tree_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    // [lab11.2] Reduce to rank 0, finish there, and broadcast from there.
    prepare_reduce(data, transport.world_size(), op);
    tree_reduce(transport, data, op, 0);
    if (transport.rank() == 0) finish_reduce(data, transport.world_size(), op);
    tree_broadcast(transport, data.bytes, 0);
    // [lab11.2]
}

void dissemination_barrier(Transport& transport) {
    // [lab11.2] In round k, signal the rank 2^k above and wait for the rank 2^k below.
    const int P = transport.world_size(), rank = transport.rank();
    for (int distance = 1; distance < P; distance *= 2)
        transport.send_recv((rank + distance) % P, {}, (rank - distance + P) % P, {});
    // [lab11.2]
}

void ring_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const int P = transport.world_size(), rank = transport.rank();
    const int right = (rank + 1) % P, left = (rank + P - 1) % P;

    // Returns chunk k modulo P. Below, k counts down from rank or rank + 1 in P - 1 steps,
    // so it may be negative.
    const auto chunk = [&](int k) {
        return data.part(static_cast<size_t>((k + P) % P), static_cast<size_t>(P));
    };

    // [lab11.3] Combine each chunk along the ring, finish it on one rank, and copy it.
    // Reduce-scatter: send chunks rank, rank-1, rank-2, ...
    prepare_reduce(data, P, op);
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes, combine);
    finish_reduce(chunk(rank + 1), P, op);

    // All-gather: start from the chunk that this rank has just finished.
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank + 1 - step).bytes, left,
                            chunk(rank - step).bytes);
    // [lab11.3]
}

void recursive_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const int rank = transport.rank();
    const Combine combine = combine_for(data.dtype, op);
    std::vector<std::byte> theirs(data.bytes.size());
    prepare_reduce(data, transport.world_size(), op);
    fold_to_power_of_two(transport, data, op, [&](int Q) {
        // [lab11.7] Exchange whole buffers with partners that are 1, 2, 4, ... away.
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, theirs);
            if (rank < partner) {
                combine.apply(data.bytes.data(), theirs.data(), data.size());
            } else {
                combine.apply(theirs.data(), data.bytes.data(), data.size());
                std::ranges::copy(theirs, data.bytes.begin());
            }
        }
        finish_reduce(data, transport.world_size(), op);
        // [lab11.7]
    });
}

namespace {

// Reduces `data` over the partners that differ from `rank` in the bits up to `bit`: keeps
// one half of it, and when that half is finished, gets the other half back.
void halve_and_double(Transport& transport, Elements data, ReduceOp op, int bit) {
    // [lab11.4] Send one half, reduce the other among the nearer partners, exchange both.
    if (bit == 0) return finish_reduce(data, transport.world_size(), op);
    const int partner = transport.rank() ^ bit;
    const bool keeps_low = transport.rank() < partner;
    const Elements mine = data.part(keeps_low ? 0 : 1, 2);
    const Elements theirs = data.part(keeps_low ? 1 : 0, 2);
    transport.send_recv(partner, theirs.bytes, partner, mine.bytes,
                        combine_for(data.dtype, op));
    halve_and_double(transport, mine, op, bit / 2);
    transport.send_recv(partner, mine.bytes, partner, theirs.bytes);
    // [lab11.4]
}

}  // namespace

void halving_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    prepare_reduce(data, transport.world_size(), op);
    fold_to_power_of_two(transport, data, op,
                         [&](int Q) { halve_and_double(transport, data, op, Q / 2); });
}

}  // namespace mini::dist
// [lab11 file]
