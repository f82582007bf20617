#include "libmini/parallel/same_parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "libmini/distributed/group/gather.hpp"

namespace mini::parallel {
namespace {

// Returns all shapes in one list, each shape after its number of dimensions.
std::vector<int64_t> shapes_of(const nn::NamedTensors& parameters) {
    std::vector<int64_t> numbers;
    for (const auto& [name, parameter] : parameters) {
        numbers.push_back(parameter.dim());
        std::ranges::copy(parameter.shape(), std::back_inserter(numbers));
    }
    return numbers;
}

// Returns all names in one list, each ended by a zero.
std::vector<uint8_t> names_of(const nn::NamedTensors& parameters) {
    std::vector<uint8_t> bytes;
    for (const auto& [name, parameter] : parameters) {
        bytes.insert(bytes.end(), name.begin(), name.end());
        bytes.push_back(0);
    }
    return bytes;
}

// Returns the values of every rank; `values` may have another length on each rank.
template <typename T>
std::vector<std::vector<T>> all_gather_lists(dist::ProcessGroup& group,
                                             std::vector<T> values) {
    const auto lengths =
        dist::all_gather_values<int64_t>(group, {static_cast<int64_t>(values.size())});
    int64_t longest = 1;
    for (const auto& length : lengths) longest = std::max(longest, length[0]);
    values.resize(static_cast<size_t>(longest));
    auto by_rank = dist::all_gather_values(group, values);
    for (size_t rank = 0; rank < by_rank.size(); ++rank)
        by_rank[rank].resize(static_cast<size_t>(lengths[rank][0]));
    return by_rank;
}

// Reads the lists of one rank, parameter after parameter.
class Reader {
  public:
    Reader(const std::vector<int64_t>& shapes, const std::vector<uint8_t>& names)
        : shape_(shapes.begin()), name_(names.begin()) {}

    Shape next_shape() {
        const int64_t dims = *shape_++;
        const Shape shape(shape_, shape_ + dims);
        shape_ += dims;
        return shape;
    }
    std::string next_name() {
        std::string name;
        while (*name_ != 0) name.push_back(static_cast<char>(*name_++));
        ++name_;
        return name;
    }

  private:
    std::vector<int64_t>::const_iterator shape_;
    std::vector<uint8_t>::const_iterator name_;
};

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

    const auto shapes = all_gather_lists(group, shapes_of(parameters));
    const auto names = all_gather_lists(group, names_of(parameters));
    for (size_t rank = 1; rank < shapes.size(); ++rank) {
        Reader first(shapes[0], names[0]), other(shapes[rank], names[rank]);
        for (size_t i = 0; i < parameters.size(); ++i) {
            const std::string name = first.next_name(), other_name = other.next_name();
            MINI_CHECK(name == other_name, texts.who, ": of the ", texts.what,
                       ", number ", i, " is ", name, " on rank 0, but ", other_name,
                       " on rank ", rank, "; ", texts.remedy, ", in the same order");
            const Shape shape = first.next_shape(), other_shape = other.next_shape();
            MINI_CHECK(shape == other_shape, texts.who, ": parameter ", i,
                       name.empty() ? "" : concat(" (here ", name, ")"), " is ", shape,
                       " on rank 0, but ", other_shape, " on rank ", rank, "; ",
                       texts.remedy);
        }
    }
}

}  // namespace mini::parallel
