#include "libmini/parallel/same_parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/group/gather.hpp"

namespace mini::parallel {
namespace {

// Returns the names and shapes in one list of bytes: name, shape, name, shape, ..., each
// ended by a zero.
std::vector<uint8_t> described(const nn::NamedTensors& parameters) {
    std::vector<uint8_t> bytes;
    for (const auto& [name, parameter] : parameters)
        for (const std::string& text : {name, concat(parameter.shape())}) {
            bytes.insert(bytes.end(), text.begin(), text.end());
            bytes.push_back(0);
        }
    return bytes;
}

// Returns the texts of described(), in their order.
std::vector<std::string> split(const std::vector<uint8_t>& bytes) {
    std::vector<std::string> texts(1);
    for (const uint8_t byte : bytes)
        if (byte == 0)
            texts.emplace_back();
        else
            texts.back().push_back(static_cast<char>(byte));
    return texts;
}

// Returns the bytes of every rank; `bytes` may have another length on each rank.
std::vector<std::vector<uint8_t>> all_gather_bytes(dist::ProcessGroup& group,
                                                   std::vector<uint8_t> bytes) {
    const auto lengths =
        dist::all_gather_values<int64_t>(group, {static_cast<int64_t>(bytes.size())});
    bytes.resize(static_cast<size_t>(std::ranges::max(lengths)[0]));
    auto by_rank = dist::all_gather_values(group, bytes);
    for (size_t rank = 0; rank < by_rank.size(); ++rank)
        by_rank[rank].resize(static_cast<size_t>(lengths[rank][0]));
    return by_rank;
}

}  // namespace

// All ranks receive the names and shapes of all ranks, so all ranks find the same
// difference.
void check_same_parameters(dist::ProcessGroup& group, const SameParameters& texts,
                           const nn::NamedTensors& parameters) {
    const auto counts = dist::all_gather_values<int64_t>(
        group, {static_cast<int64_t>(parameters.size())});
    for (size_t rank = 1; rank < counts.size(); ++rank)
        MINI_CHECK(counts[rank][0] == counts[0][0], texts.who, ": rank 0 has ",
                   counts[0][0], " ", texts.what, ", but rank ", rank, " has ",
                   counts[rank][0], "; ", texts.remedy);
    if (parameters.empty()) return;

    const auto descriptions = all_gather_bytes(group, described(parameters));
    const std::vector<std::string> first = split(descriptions[0]);
    for (size_t rank = 1; rank < descriptions.size(); ++rank) {
        const std::vector<std::string> other = split(descriptions[rank]);
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
