#include "libmini/dist/algorithms/ring_all_reduce.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/dist/algorithms/reduce.hpp"

namespace mini::dist {
namespace {

// A chunk travels in pieces of this size at most: a piece is still in the cache when it
// is added.
constexpr size_t kPieceBytes = 1 << 20;

// Part k of `parts` equal ones. Sizes differ by at most one; some are empty if parts >
// size.
template <typename T>
std::span<T> part(std::span<T> data, size_t parts, size_t k) {
    const size_t begin = data.size() * k / parts, end = data.size() * (k + 1) / parts;
    return data.subspan(begin, end - begin);
}

}  // namespace

template <typename T>
void ring_all_reduce(Transport& transport, std::span<T> data, ReduceOp op) {
    const int P = transport.world_size(), rank = transport.rank();
    const int right = (rank + 1) % P;
    const int left = (rank + P - 1) % P;

    // Chunk k, counted modulo P.
    const auto chunk = [&](int k) {
        return part(data, static_cast<size_t>(P), static_cast<size_t>((k + 2 * P) % P));
    };

    // Reduce-scatter: send chunks rank, rank-1, rank-2, ... and add what comes in.
    const size_t longest = data.size() / static_cast<size_t>(P) + 1;
    const size_t pieces =
        longest * sizeof(T) / kPieceBytes + 1;  // the same on every rank
    std::vector<T> inbox(longest / pieces + 1);
    for (int step = 0; step < P - 1; ++step) {
        for (size_t i = 0; i < pieces; ++i) {
            const auto leaving = part(chunk(rank - step), pieces, i);
            const auto mine = part(chunk(rank - step - 1), pieces, i);
            const auto theirs = std::span(inbox).first(mine.size());
            transport.send_recv(right, std::as_bytes(leaving), left,
                                std::as_writable_bytes(theirs));
            reduce_into(mine, std::span<const T>(theirs), op);
        }
    }
    finish_reduce(chunk(rank + 1), P, op);

    // All-gather: start from the chunk this rank has just finished.
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, std::as_bytes(chunk(rank + 1 - step)), left,
                            std::as_writable_bytes(chunk(rank - step)));
}

template void ring_all_reduce(Transport&, std::span<float>, ReduceOp);
template void ring_all_reduce(Transport&, std::span<int64_t>, ReduceOp);
template void ring_all_reduce(Transport&, std::span<uint8_t>, ReduceOp);

}  // namespace mini::dist
