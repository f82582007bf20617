#include "libmini/dist/collective.hpp"

#include "libmini/core/error.hpp"

namespace mini::dist {

const char* operation_name(Operation operation) {
    switch (operation) {
        case Operation::kAllReduce: return "all_reduce";
        case Operation::kBroadcast: return "broadcast";
        case Operation::kAllGather: return "all_gather";
        case Operation::kBarrier: return "barrier";
    }
    return "unknown operation";
}

std::string describe(const Collective& c) {
    const std::string call = concat(operation_name(c.operation), " #", c.sequence);
    const std::string payload = concat(c.count, " ", c.dtype);
    switch (c.operation) {
        case Operation::kAllReduce:
            return concat(call, " (", reduce_op_name(c.reduce_op), " of ", payload, ")");
        case Operation::kBroadcast:
            return concat(call, " (", payload, " from rank ", c.root, ")");
        case Operation::kAllGather: return concat(call, " (", payload, " a rank)");
        case Operation::kBarrier: break;
    }
    return call;
}

void CollectiveHistory::begin(const Collective& collective) {
    current_ = collective;
    last_[collective.sequence % kKept] = collective;
}

void CollectiveHistory::check_same(int my_rank, int their_rank,
                                   const Collective& theirs) const {
    if (theirs == current_) return;

    // A rank that is behind tells of a call that this one has finished alone, as the root
    // of a broadcast can: compare with what ran here under the same number.
    const Collective& same_number = last_[theirs.sequence % kKept];
    const bool was_here =
        same_number.sequence == theirs.sequence && same_number != theirs;
    const Collective& mine = was_here ? same_number : current_;
    throw MismatchedCollective(concat("mismatched collectives: rank ", my_rank, " runs ",
                                      describe(mine), ", but rank ", their_rank, " runs ",
                                      describe(theirs),
                                      "; every rank must call the same collectives, in "
                                      "the same order, on equal shapes"));
}

}  // namespace mini::dist
