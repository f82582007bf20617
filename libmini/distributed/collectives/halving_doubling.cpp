// All-reduce by recursive halving and doubling: reduce-scatter, then all-gather, each in
// log2 P rounds.
//
//     P = 4           round 0 (bit 2)    round 1 (bit 1)
//     halving         keep one half of the data, send the other half to the partner
//     rank 0          A B | . .          A | .
//     rank 1          A B | . .          . | B
//     rank 2          . . | C D          C | .
//     rank 3          . . | C D          . | D
//     doubling        the same rounds backwards: send the finished data to the partner
//
// Each rank sends 2(P-1)/P of the buffer, as in the ring, but in 2 log2 P messages
// instead of 2(P-1): faster for many ranks and medium-sized buffers. If P is not a power
// of two, the other ranks are folded in (fold.hpp). Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", 2005.

#include "libmini/distributed/collectives/all_reduce.hpp"

#include <utility>
#include <vector>

#include "libmini/distributed/collectives/fold.hpp"

namespace mini::dist {
namespace {

// One round of halving: `mine` is the half that this rank keeps, `theirs` is the half
// that it sends to `partner`.
struct Halves {
    int partner;
    Elements mine, theirs;
};

Halves split(Elements all, int rank, int bit) {
    Elements low = all.slice(0, all.size() / 2);
    Elements high = all.slice(all.size() / 2, all.size() - all.size() / 2);
    if (rank & bit) std::swap(low, high);
    return {rank ^ bit, low, high};
}

}  // namespace

void halving_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const Combine combine = combine_for(data.dtype, op);
    prepare_reduce(data, transport.world_size(), op);
    fold_to_power_of_two(transport, data, op, [&](int Q) {
        std::vector<Halves> rounds;
        Elements mine = data;
        // [lab11.4] Halving: send one half, combine the received data into the other.
        for (int bit = Q / 2; bit > 0; bit /= 2) {
            const Halves halves = split(mine, transport.rank(), bit);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }
        // [lab11.4]
        finish_reduce(mine, transport.world_size(), op);

        // [lab11.4] Doubling: the same partners in reverse order, with finished data.
        for (; !rounds.empty(); rounds.pop_back()) {
            const Halves& halves = rounds.back();
            transport.send_recv(halves.partner, halves.mine.bytes, halves.partner,
                                halves.theirs.bytes);
        }
        // [lab11.4]
    });
}

}  // namespace mini::dist
