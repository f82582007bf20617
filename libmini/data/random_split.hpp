// random_split: a dataset shuffled once and cut into parts of given lengths.
//
//     n = 10     random_split(dataset, {7, 3})              7 samples and 3
//                random_split(dataset, {0.5, 0.25, 0.25})   5, 2, 2 and 1 left over:
//                                                           the first gets it, 6, 2, 2

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

/// Parts of the given lengths, each sample in one (`torch.utils.data.random_split`).
/// Draws one permutation from `generator`, or without one from the calling thread's
/// generator_of(Stream::kDataOrder). Throws UsageError when a length is negative, or they
/// do not sum to the dataset's size.
std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, const std::vector<int64_t>& lengths,
    std::shared_ptr<Generator> generator = nullptr);

/// The same with fractions, as PyTorch 1.13 and later take them: each part gets
/// floor(fraction * n), and what is left over is handed out one by one from the first
/// part on. Warns of parts that get nothing. Throws UsageError unless each fraction is in
/// [0, 1] and they sum to 1.
std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, const std::vector<double>& fractions,
    std::shared_ptr<Generator> generator = nullptr);

/// Lengths or fractions written in place: whole numbers are lengths, others fractions.
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
