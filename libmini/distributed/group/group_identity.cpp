#include "libmini/distributed/group/group_identity.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::dist {

GroupIdentity GroupIdentity::subgroup(uint64_t number,
                                      const std::vector<int>& ranks) const {
    GroupIdentity made;
    made.name = name.empty() ? concat("group ", number) : concat(name, ".", number);
    for (const int rank : ranks) made.world_ranks.push_back(world_rank(rank));
    return made;
}

int GroupIdentity::world_rank(int rank) const {
    const bool is_listed = rank >= 0 && static_cast<size_t>(rank) < world_ranks.size();
    return is_listed ? world_ranks[static_cast<size_t>(rank)] : rank;
}

Failure GroupIdentity::in_job(Failure failure) const {
    failure.rank = world_rank(failure.rank);
    failure.message += note();
    return failure;
}

std::string GroupIdentity::note() const {
    std::vector<int> own(world_ranks.size());
    std::iota(own.begin(), own.end(), 0);
    if (own == world_ranks) return "";
    return concat(" [", rank_list(own), " of ", name, own.size() == 1 ? " is " : " are ",
                  rank_list(world_ranks), " of the job]");
}

}  // namespace mini::dist
