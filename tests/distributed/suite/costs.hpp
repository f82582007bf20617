// What a collective costs one rank: messages and bytes that it sends, as the heads of
// libmini/distributed/collectives/*.hpp say.

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

/// Of one rank among P, for `n` elements of `each` bytes per rank.
struct Load {
    int64_t n = 0;
    int64_t each = 1;
    int P = 1;
    int rank = 0;

    int64_t bytes() const { return n * each; }
};

/// kHierarchical: with all ranks on one host. REQUIRES: not kAuto.
Cost all_reduce_cost(Algorithm algorithm, const Load& load);

/// Of the other collectives; `root` matters to those that have one.
Cost collective_cost(Operation operation, const Load& load, int root = 0);

/// What the group's last collective has cost, and the algorithm it ran.
struct Spent {
    Cost cost;
    std::string algorithm;
};
Spent last_spent(ProcessGroup& group);

/// Throws Error showing both unless the last collective cost this.
void check_cost(ProcessGroup& group, const Cost& expected);

}  // namespace mini::dist::suite
