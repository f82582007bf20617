// GroupIdentity: the name and the members of a group, equal on all its ranks.
//
//     new_group({2, 3}) of the default group      group 1, world_ranks 2 and 3
//     new_group({0, 1}) of the default group      group 2, world_ranks 0 and 1
//     new_group({1}) of group 2                   group 2.1, world_ranks 1
//
// All ranks of a group call new_group equally often, so they can count the calls, and a
// name needs no communication.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/net/failure.hpp"

namespace mini::dist {

struct GroupIdentity {
    std::string name = "";              // "": not made by new_group
    std::vector<int> world_ranks = {};  // by rank: the rank in the job; empty: the same

    /// Returns the identity of the subgroup of `ranks` that the `number`-th call of
    /// new_group makes. REQUIRES: `ranks` is valid for this group.
    GroupIdentity subgroup(uint64_t number, const std::vector<int>& ranks) const;

    /// Returns the rank in the job of rank `rank` of this group; numbers that are no rank
    /// (-1: none) do not change.
    int world_rank(int rank) const;

    /// Returns the failure of this group as its callers see it: a subgroup's message ends
    /// with note(), and its rank is the rank in the job.
    Failure in_job(Failure failure) const;

    /// Returns " [ranks 0 and 1 of group 1 are ranks 2 and 3 of the job]"; "" if the
    /// numbers are the same.
    std::string note() const;
};

}  // namespace mini::dist
