#include "libmini/data/random_split.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {
namespace {

// The sum of fractions such as seven times 1/7 may differ slightly from 1.
constexpr double kRoundingSlack = 1e-9;

void check_lengths(const std::vector<int64_t>& lengths, int64_t n) {
    int64_t left = n;
    for (const int64_t length : lengths) {
        if (length < 0)
            throw UsageError(
                concat("random_split: the lengths ", lengths, " must not be negative"));
        if (length > left)
            throw UsageError(concat("random_split: the lengths ", lengths,
                                    " sum to more than the ", n,
                                    " samples of the dataset"));
        left -= length;
    }
    if (left > 0)
        throw UsageError(concat("random_split: the lengths ", lengths, " leave ", left,
                                " of the dataset's ", n,
                                " samples over; they must sum to the dataset's size"));
}

void check_fractions(const std::vector<double>& fractions) {
    for (const double fraction : fractions)
        if (!(fraction >= 0 && fraction <= 1))
            throw UsageError(concat("random_split: the fractions ", fractions,
                                    " must all be between 0 and 1"));
    const double sum = std::accumulate(fractions.begin(), fractions.end(), 0.0);
    if (!(std::abs(sum - 1) <= kRoundingSlack))
        throw UsageError(concat("random_split: the fractions ", fractions, " sum to ",
                                sum, " but must sum to 1"));
}

}  // namespace

std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, const std::vector<int64_t>& lengths,
    std::shared_ptr<Generator> generator) {
    if (!dataset) throw UsageError("random_split: no dataset was given");
    check_lengths(lengths, dataset->size());

    // Permute all indices, and cut them into one run per length.
    const std::vector<int64_t> order =
        randperm(dataset->size(), generator ? *generator : default_generator());
    std::vector<std::shared_ptr<const Partition>> parts;
    for (std::vector<int64_t>& run : cut_into_runs(order, lengths))
        parts.push_back(std::make_shared<const Partition>(dataset, std::move(run)));
    return parts;
}

std::vector<std::shared_ptr<const Partition>> random_split(
    std::shared_ptr<const Dataset> dataset, const std::vector<double>& fractions,
    std::shared_ptr<Generator> generator) {
    if (!dataset) throw UsageError("random_split: no dataset was given");
    check_fractions(fractions);

    // Round down, and assign the remaining samples, starting with the first part.
    const int64_t n = dataset->size();
    std::vector<int64_t> lengths;
    for (const double fraction : fractions)
        lengths.push_back(
            static_cast<int64_t>(std::floor(static_cast<double>(n) * fraction)));
    const int64_t given = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (int64_t k = 0; k < n - given; ++k)
        ++lengths[static_cast<size_t>(k) % lengths.size()];

    for (size_t i = 0; i < lengths.size(); ++i)
        if (lengths[i] == 0)
            logging::warning("random_split: part ", i, " of ", lengths.size(),
                             " gets none of the ", n, " samples");
    return random_split(std::move(dataset), lengths, std::move(generator));
}

}  // namespace mini::data
