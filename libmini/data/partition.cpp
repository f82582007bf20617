#include "libmini/data/partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/python_random.hpp"

namespace mini::data {
namespace {

// Fractions such as seven times 1/7 may sum to a little more than 1.
constexpr double kRoundingSlack = 1e-9;

void check_fractions(const std::vector<double>& sizes) {
    double total = 0;
    for (const double size : sizes) {
        if (!(size > 0))
            throw UsageError(concat("DataPartitioner: the fractions ", sizes,
                                    " must all be positive"));
        total += size;
    }
    if (!(total <= 1 + kRoundingSlack))
        throw UsageError(concat("DataPartitioner: the fractions ", sizes, " sum to ",
                                total, " but must not sum to more than 1"));
}

// int(fraction * n) each, and one more for the first few until nothing is left over.
std::vector<int64_t> lengths_of(const std::vector<double>& sizes, int64_t n,
                                bool assign_remainder) {
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    if (!assign_remainder) return lengths;

    const double covered = std::accumulate(sizes.begin(), sizes.end(), kRoundingSlack);
    const int64_t total =
        std::min(n, static_cast<int64_t>(covered * static_cast<double>(n)));
    const int64_t given = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (int64_t k = 0; k < total - given; ++k)
        ++lengths[static_cast<size_t>(k) % lengths.size()];
    return lengths;
}

}  // namespace

Partition::Partition(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> index)
    : dataset_(std::move(dataset)), index_(std::move(index)) {
    if (!dataset_) throw UsageError("Partition: no dataset was given");
}

int64_t Partition::size() const { return static_cast<int64_t>(index_.size()); }

int64_t Partition::at(int64_t i) const {
    MINI_CHECK(i >= 0 && i < size(), "Partition: there is no sample ", i, "; it has ",
               size());
    return index_[static_cast<size_t>(i)];
}

Example Partition::get(int64_t i) const { return dataset_->get(at(i)); }

Batch Partition::get_batch(std::span<const int64_t> indices) const {
    std::vector<int64_t> mapped;
    mapped.reserve(indices.size());
    for (const int64_t i : indices) mapped.push_back(at(i));
    return dataset_->get_batch(mapped);
}

DataPartitioner::DataPartitioner(std::shared_ptr<const Dataset> dataset,
                                 const std::vector<double>& sizes,
                                 DataPartitionerOptions options)
    : dataset_(std::move(dataset)) {
    if (!dataset_) throw UsageError("DataPartitioner: no dataset was given");
    check_fractions(sizes);

    // Shuffle all indices, the same way on every rank.
    const int64_t n = dataset_->size();
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(options.seed).shuffle(index);

    // Cut off one run a fraction.
    auto begin = index.begin();
    for (const int64_t wanted : lengths_of(sizes, n, options.assign_remainder)) {
        const int64_t length = std::min<int64_t>(wanted, index.end() - begin);
        partitions_.emplace_back(begin, begin + length);
        begin += length;
    }
}

DataPartitioner::DataPartitioner(std::shared_ptr<const Dataset> dataset,
                                 const std::vector<double>& sizes, int64_t seed)
    : DataPartitioner(std::move(dataset), sizes, DataPartitionerOptions{.seed = seed}) {}

Partition DataPartitioner::use(int partition) const {
    const int count = static_cast<int>(partitions_.size());
    if (partition < 0 || partition >= count)
        throw UsageError(concat("DataPartitioner: there is no partition ", partition,
                                "; it has ", count));
    return Partition(dataset_, partitions_[static_cast<size_t>(partition)]);
}

}  // namespace mini::data
