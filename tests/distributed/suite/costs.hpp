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

/// The input of a collective: rank `rank` of P, with `n` elements of `each` bytes per
/// rank.
struct Load {
    int64_t n = 0;
    int64_t each = 1;
    int P = 1;
    int rank = 0;

    int64_t bytes() const { return n * each; }
};

/// Returns the cost of an all_reduce; kHierarchical with all ranks on one host. REQUIRES:
/// not kAuto.
Cost all_reduce_cost(Algorithm algorithm, const Load& load);

/// Returns the cost of another collective; `root` is for the collectives that have one.
Cost collective_cost(Operation operation, const Load& load, int root = 0);

/// The cost of the group's last collective, and the algorithm that it used.
struct Spent {
    Cost cost;
    std::string algorithm;
};
Spent last_spent(ProcessGroup& group);

/// Throws Error with both costs unless the last collective had the cost `expected`.
void check_cost(ProcessGroup& group, const Cost& expected);

}  // namespace mini::dist::suite
