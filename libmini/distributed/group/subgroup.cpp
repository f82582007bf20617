#include "libmini/distributed/group/subgroup.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libmini/distributed/group/gather.hpp"

namespace mini::dist {

int index_among(const std::vector<int>& ranks, const ProcessGroup& parent) {
    const auto found = std::ranges::find(ranks, parent.rank());
    return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

void check_subgroup(const std::vector<int>& ranks, ProcessGroup& parent) {
    // For each rank of `parent`, its index in the list: -1 if it is absent, P if it is
    // listed twice. One more entry is P if a rank is out of range.
    const int P = parent.world_size();
    std::vector<int64_t> indices(static_cast<size_t>(P) + 1, -1);
    for (size_t i = 0; i < ranks.size(); ++i) {
        const bool in_range = ranks[i] >= 0 && ranks[i] < P;
        int64_t& index = indices[static_cast<size_t>(in_range ? ranks[i] : P)];
        index = index < 0 && in_range ? static_cast<int64_t>(i) : P;
    }

    // Compare the lists of all ranks.
    const auto all = all_gather_values(parent, indices);
    for (size_t rank = 0; rank < all.size(); ++rank) {
        if (std::ranges::count(all[rank], int64_t{P}) > 0)
            throw UsageError("new_group: rank ", rank,
                             " passes a rank twice, or a rank outside 0 to ", P - 1);
        if (all[rank] != all.front())
            throw UsageError("new_group: ranks 0 and ", rank,
                             " pass different lists of members; every rank of the "
                             "group must call new_group with the same list");
    }
    if (ranks.empty()) throw UsageError("new_group: no ranks were given");
}

}  // namespace mini::dist
