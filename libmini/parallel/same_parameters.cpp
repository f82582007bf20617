#include "libmini/parallel/same_parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "libmini/distributed/group/gather.hpp"

namespace mini::parallel {
namespace {

// Returns all shapes in one list, each shape after its number of dimensions.
std::vector<int64_t> describe(const nn::NamedTensors& parameters) {
    std::vector<int64_t> numbers;
    for (const auto& [name, parameter] : parameters) {
        numbers.push_back(parameter.dim());
        std::ranges::copy(parameter.shape(), std::back_inserter(numbers));
    }
    return numbers;
}

Shape next_shape(const std::vector<int64_t>& numbers, size_t& offset) {
    const auto first = numbers.begin() + static_cast<int64_t>(offset) + 1;
    const Shape shape(first, first + first[-1]);
    offset += 1 + shape.size();
    return shape;
}

}  // namespace

// All ranks receive the shapes of all ranks, so all ranks find the same difference.
void check_same_parameters(dist::ProcessGroup& group, const SameParameters& texts,
                           const nn::NamedTensors& parameters) {
    std::vector<int64_t> mine = describe(parameters);
    const auto lengths = dist::all_gather_values<int64_t>(
        group,
        {static_cast<int64_t>(parameters.size()), static_cast<int64_t>(mine.size())});
    for (size_t rank = 1; rank < lengths.size(); ++rank)
        MINI_CHECK(lengths[rank][0] == lengths[0][0], texts.who, ": rank 0 has ",
                   lengths[0][0], " ", texts.what, ", but rank ", rank, " has ",
                   lengths[rank][0], "; ", texts.remedy);

    // The lists may have different lengths: pad the shorter lists.
    for (const auto& length : lengths)
        mine.resize(std::max(mine.size(), static_cast<size_t>(length[1])), -1);
    const auto by_rank = dist::all_gather_values(group, mine);
    for (size_t rank = 1; rank < by_rank.size(); ++rank) {
        size_t first_offset = 0, other_offset = 0;
        for (size_t i = 0; i < parameters.size(); ++i) {
            const std::string& name = parameters[i].first;
            const Shape first = next_shape(by_rank[0], first_offset);
            const Shape other = next_shape(by_rank[rank], other_offset);
            MINI_CHECK(first == other, texts.who, ": parameter ", i,
                       name.empty() ? "" : concat(" (here ", name, ")"), " is ", first,
                       " on rank 0, but ", other, " on rank ", rank, "; ", texts.remedy);
        }
    }
}

}  // namespace mini::parallel
