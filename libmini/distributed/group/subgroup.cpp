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
    // For each rank of `parent` its index in the list, -1 without one; P marks a fault. One
    // entry more stands for all ranks out of range.
    const int P = parent.world_size();
    std::vector<int64_t> indices(static_cast<size_t>(P) + 1, -1);
    for (size_t i = 0; i < ranks.size(); ++i) {
        const bool in_range = ranks[i] >= 0 && ranks[i] < P;
        int64_t& index = indices[static_cast<size_t>(in_range ? ranks[i] : P)];
        index = index < 0 && in_range ? static_cast<int64_t>(i) : P;
    }

    // Compare what all ranks have.
    const auto all = all_gather_values(parent, indices);
    for (size_t rank = 0; rank < all.size(); ++rank) {
        if (std::ranges::count(all[rank], int64_t{P}) > 0)
            throw UsageError(concat("new_group: rank ", rank,
                                    " gives a rank twice, or one outside 0 to ", P - 1));
        if (all[rank] != all.front())
            throw UsageError(concat("new_group: ranks 0 and ", rank,
                                    " give different lists of members; every rank of the "
                                    "group must call new_group with the same"));
    }
    if (ranks.empty()) throw UsageError("new_group: no ranks were given");
}

}  // namespace mini::dist
