#include "tests/distributed/suite/costs.hpp"

#include <bit>

#include "libmini/core/error.hpp"

namespace mini::dist::suite {
namespace {

int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

// Returns the number of children of a rank in a binomial tree; ranks are relative to the
// root.
int children(int relative_rank, int P) {
    int count = 0;
    for (int bit = 1; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P) ++count;
    return count;
}

// A rank sends P - 1 chunks in each of two phases: in the reduce-scatter all chunks
// except the chunk that this rank finishes, and in the all-gather all chunks except the
// chunk that its right neighbour has finished.
Cost ring_cost(const Load& load) {
    const int P = load.P;
    const auto chunk = [&](int k) {
        const int64_t i = k % P;
        return load.n * (i + 1) / P - load.n * i / P;
    };
    const int64_t elements = 2 * load.n - chunk(load.rank + 1) - chunk(load.rank + 2);
    return {2 * (P - 1), elements * load.each};
}

// Ranks from Q = 2^k on send their data once, to rank - Q, which sends the result back.
Cost folded(const Load& load, int Q, Cost between) {
    if (load.rank >= Q) return {1, load.bytes()};
    const bool has_folded_rank = load.rank + Q < load.P;
    return {between.messages + has_folded_rank,
            between.bytes + has_folded_rank * load.bytes()};
}

Cost doubling_cost(const Load& load) {
    const int Q = static_cast<int>(std::bit_floor(static_cast<unsigned>(load.P)));
    return folded(load, Q, {log2_of(Q), log2_of(Q) * load.bytes()});
}

Cost halving_cost(const Load& load) {
    const int Q = static_cast<int>(std::bit_floor(static_cast<unsigned>(load.P)));
    int64_t mine = load.n, sent = 0;
    for (int bit = Q / 2; bit > 0; bit /= 2) {
        const int64_t low = mine / 2, high = mine - low;
        mine = load.rank & bit ? high : low;
        sent += low + high;  // the other half now, this half on the way back
    }
    return folded(load, Q, {2 * log2_of(Q), sent * load.each});
}

// The ranks tell each other where their data are. The data of the suite are in no memory
// that other ranks can map, and go around the ring.
Cost shared_memory_cost(const Load& load) {
    constexpr int64_t kMessage = 32;
    const Cost ring = ring_cost(load);
    const int64_t others = load.P - 1;
    return {ring.messages + others, ring.bytes + others * kMessage};
}

Cost sends(int64_t messages, int64_t bytes) { return {messages, messages * bytes}; }

}  // namespace

Cost all_reduce_cost(Algorithm algorithm, const Load& load) {
    if (load.P == 1) return {};
    const bool first = load.rank == 0;
    switch (algorithm) {
        case Algorithm::kNaive: return sends(first ? load.P - 1 : 1, load.bytes());
        case Algorithm::kTree:
        case Algorithm::kHierarchical:
            return sends(children(load.rank, load.P) + !first, load.bytes());
        case Algorithm::kRecursiveDoubling: return doubling_cost(load);
        case Algorithm::kHalvingDoubling: return halving_cost(load);
        case Algorithm::kSharedMemory: return shared_memory_cost(load);
        case Algorithm::kAuto:
        case Algorithm::kRing: break;
    }
    return ring_cost(load);
}

Cost collective_cost(Operation operation, const Load& load, int root) {
    const int P = load.P;
    const int relative_rank = (load.rank - root + P) % P;
    switch (operation) {
        case Operation::kBroadcast:
            return sends(children(relative_rank, P), load.bytes());
        case Operation::kReduce:
        case Operation::kGather: return sends(relative_rank != 0, load.bytes());
        case Operation::kScatter:
            return sends(relative_rank == 0 ? P - 1 : 0, load.bytes());
        case Operation::kAllGather:
        case Operation::kReduceScatter:
        case Operation::kAllToAll: return sends(P - 1, load.bytes());
        case Operation::kBarrier:
            return sends(std::bit_width(static_cast<unsigned>(P - 1)), 0);
        default: return {};
    }
}

Spent last_spent(ProcessGroup& group) {
    const auto events = group.events().snapshot(EventKind::kCollectiveEnd);
    MINI_CHECK(!events.empty(), "the event log has no collective");
    return {{events.back().messages, events.back().bytes}, events.back().algorithm};
}

void check_cost(ProcessGroup& group, const Cost& expected) {
    const Cost actual = last_spent(group).cost;
    MINI_CHECK(actual == expected, "the rank sent ", actual.messages, " messages and ",
               actual.bytes, " bytes but should send ", expected.messages, " and ",
               expected.bytes);
}

}  // namespace mini::dist::suite
