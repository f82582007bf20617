// random_split: a dataset shuffled once and split into parts of given lengths.
//
//     n = 10     random_split(dataset, {7, 3})              7 samples and 3
//                random_split(dataset, {0.5, 0.25, 0.25})   5, 2, 2; the remaining sample
//                                                           goes to the first: 6, 2, 2

#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "libmini/data/partition.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

/// Returns parts of the given lengths, with each sample in exactly one part
/// (`torch.utils.data.random_split`). Draws one permutation from `generator` or, if
/// `generator` is null, from the calling thread's default_generator().
/// Throws UsageError when a length is negative, or when the lengths do not sum to the
/// dataset's size.
std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, const std::vector<int64_t>& lengths,
    std::shared_ptr<Generator> generator = nullptr);

/// Returns parts of the given fractions, as in PyTorch 1.13 and later: each part gets
/// floor(fraction * n) samples, and the remaining samples are assigned one by one,
/// starting with the first part. Draws one permutation, like the overload with lengths.
/// Logs a warning for each empty part. Throws UsageError unless each fraction is in
/// [0, 1] and all fractions sum to 1.
std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, const std::vector<double>& fractions,
    std::shared_ptr<Generator> generator = nullptr);

/// Calls random_split for a braced list: integers are lengths, floating-point numbers are
/// fractions.
template <typename Number>
std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, std::initializer_list<Number> lengths,
    std::shared_ptr<Generator> generator = nullptr) {
    using Length = std::conditional_t<std::is_floating_point_v<Number>, double, int64_t>;
    return random_split(std::move(dataset),
                        std::vector<Length>(lengths.begin(), lengths.end()),
                        std::move(generator));
}

}  // namespace mini::data
