// The cost of a collective for one rank: the messages and bytes that it sends, as
// documented in the heads of libmini/distributed/collectives/*.hpp.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist::suite {

struct Cost {
    int64_t messages = 0;
    int64_t bytes = 0;
    bool operator==(const Cost&) const = default;
};

/// A rank's input of a collective: `n` elements of `each` bytes, on rank `rank` of P.
struct Load {
    int64_t n = 0;
    int64_t each = 1;
    int P = 1;
    int rank = 0;

    int64_t bytes() const { return n * each; }
};

/// Returns the cost of an all_reduce. For kHierarchical, all ranks are on one host.
/// REQUIRES: `algorithm` is not kAuto.
Cost all_reduce_cost(Algorithm algorithm, const Load& load);

/// Returns the cost of another collective. Only collectives with a root use `root`.
Cost collective_cost(Operation operation, const Load& load, int root = 0);

/// The cost of a collective for this rank, and the algorithm that the collective used.
struct Spent {
    Cost cost;
    std::string algorithm;
};
/// Returns the cost and the algorithm of the group's last collective, from its event log.
Spent last_spent(ProcessGroup& group);

/// Throws Error with both costs unless the last collective had the cost `expected`.
void check_cost(ProcessGroup& group, const Cost& expected);

}  // namespace mini::dist::suite
