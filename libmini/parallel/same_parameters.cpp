#include "libmini/parallel/same_parameters.hpp"

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/distributed/group/gather.hpp"

namespace mini::parallel {
namespace {

// Returns the names and shapes as one text: name, shape, name, shape, ..., each ended by a
// zero byte.
std::string described(const nn::NamedTensors& parameters) {
    std::string text;
    for (const auto& [name, parameter] : parameters)
        text += concat(name, '\0', parameter.shape(), '\0');
    return text;
}

// Returns the names and shapes of described(), in their order.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, '\0');) parts.push_back(part);
    return parts;
}

}  // namespace

// All ranks receive the names and shapes of all ranks, so all ranks find the same
// difference.
void check_same_parameters(dist::ProcessGroup& group, const SameParameters& texts,
                           const nn::NamedTensors& parameters) {
    std::vector<std::vector<std::string>> by_rank;
    for (const std::string& text : dist::all_gather_texts(group, described(parameters)))
        by_rank.push_back(split(text));
    const std::vector<std::string>& first = by_rank[0];
    for (size_t rank = 1; rank < by_rank.size(); ++rank) {
        const std::vector<std::string>& other = by_rank[rank];
        MINI_CHECK(other.size() == first.size(), texts.who, ": rank 0 has ",
                   first.size() / 2, " ", texts.what, ", but rank ", rank, " has ",
                   other.size() / 2, "; ", texts.remedy);
        for (size_t i = 0; i < parameters.size(); ++i) {
            const std::string& name = first[2 * i];
            MINI_CHECK(name == other[2 * i], texts.who, ": of the ", texts.what,
                       ", number ", i, " is ", name, " on rank 0, but ", other[2 * i],
                       " on rank ", rank, "; ", texts.remedy, ", in the same order");
            MINI_CHECK(first[2 * i + 1] == other[2 * i + 1], texts.who, ": parameter ", i,
                       name.empty() ? "" : concat(" (here ", name, ")"), " is ",
                       first[2 * i + 1], " on rank 0, but ", other[2 * i + 1],
                       " on rank ", rank, "; ", texts.remedy);
        }
    }
}

}  // namespace mini::parallel
