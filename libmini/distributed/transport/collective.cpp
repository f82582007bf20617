#include "libmini/distributed/transport/collective.hpp"

#include "libmini/core/error.hpp"

namespace mini::dist {

const char* operation_name(Operation operation) {
    switch (operation) {
        case Operation::kAllReduce: return "all_reduce";
        case Operation::kBroadcast: return "broadcast";
        case Operation::kReduce: return "reduce";
        case Operation::kAllGather: return "all_gather";
        case Operation::kGather: return "gather";
        case Operation::kScatter: return "scatter";
        case Operation::kReduceScatter: return "reduce_scatter";
        case Operation::kAllToAll: return "all_to_all";
        case Operation::kBarrier: return "barrier";
        case Operation::kSend: return "send";
        case Operation::kRecv: return "recv";
    }
    return "unknown operation";
}

const char* algorithm_name(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::kAuto: return "auto";
        case Algorithm::kNaive: return "naive";
        case Algorithm::kTree: return "tree";
        case Algorithm::kRing: return "ring";
        case Algorithm::kRecursiveDoubling: return "recursive-doubling";
        case Algorithm::kHalvingDoubling: return "halving-doubling";
        case Algorithm::kHierarchical: return "hierarchical";
        case Algorithm::kSharedMemory: return "shared-memory";
    }
    return "unknown algorithm";
}

Algorithm parse_algorithm(const std::string& name) {
    std::string known;
    for (int i = 0; i <= static_cast<int>(Algorithm::kSharedMemory); ++i) {
        const auto algorithm = static_cast<Algorithm>(i);
        if (name == algorithm_name(algorithm)) return algorithm;
        known += concat(i > 0 ? ", " : "", algorithm_name(algorithm));
    }
    throw UsageError("unknown all_reduce algorithm \"", name, "\"; choose one of ",
                     known);
}

std::string describe(const Collective& c) {
    using enum Operation;
    const auto is_one_of = [&](auto... operations) {
        return ((c.operation == operations) || ...);
    };
    const std::string number = c.sequence >= kFirstJoiningSequence
                                   ? " in which the ranks join the group"
                                   : concat(" #", c.sequence);
    const std::string call = operation_name(c.operation) + number;
    if (c.operation == kBarrier) return call;

    std::string text = call + " (";
    if (is_one_of(kAllReduce, kReduceScatter, kReduce))
        text += concat(reduce_op_name(c.reduce_op), " of ");
    text += c.count == kUnevenCount ? "uneven parts" : concat(c.count);
    text += concat(" ", c.dtype);
    if (is_one_of(kReduceScatter, kScatter, kGather, kAllGather, kAllToAll))
        text += " per rank";
    if (is_one_of(kReduce, kGather)) text += concat(" to rank ", c.root);
    if (is_one_of(kBroadcast, kScatter)) text += concat(" from rank ", c.root);
    if (c.operation == kAllReduce && c.algorithm != Algorithm::kAuto)
        text += concat(", ", algorithm_name(c.algorithm));
    return text + ")";
}

// Marks every slot as unused, by a sequence number that belongs to another slot.
CollectiveHistory::CollectiveHistory() {
    for (size_t i = 0; i < kKept; ++i) last_[i].sequence = i + 1;
}

void CollectiveHistory::begin(const Collective& collective) {
    current_ = collective;
    last_[collective.sequence % kKept] = collective;
}

void CollectiveHistory::check_same(int my_rank, int their_rank,
                                   const Collective& theirs) const {
    if (theirs == current_) return;
    // A rank that is behind is compared with what this rank ran then: the root of a
    // broadcast, for example, does not wait for the others.
    const Collective& then = last_[theirs.sequence % kKept];
    const bool differed = then.sequence == theirs.sequence && then != theirs;
    throw MismatchedCollective("mismatched collectives: rank ", my_rank, " runs ",
                               describe(differed ? then : current_), ", but rank ",
                               their_rank, " runs ", describe(theirs),
                               "; every rank must call the same collectives, in "
                               "the same order, on equal shapes");
}

void CollectiveHistory::check_number(int my_rank, int their_rank,
                                     const Collective& theirs) const {
    const Collective& same_number = last_[theirs.sequence % kKept];
    if (same_number.sequence == theirs.sequence && same_number != theirs)
        check_same(my_rank, their_rank, theirs);
}

}  // namespace mini::dist
