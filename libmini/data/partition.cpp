#include "libmini/data/partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/random/python_random.hpp"

namespace mini::data {
namespace {

// Rounding errors: nine times 1/9 sum to slightly more than 1, seven times 1/7 to less.
constexpr double kRoundingSlack = 1e-9;

void check_place(int64_t i, int64_t size) {
    MINI_CHECK(i >= 0 && i < size, "Partition: there is no sample ", i, "; it has ",
               size);
}

void check_part_number(int part, size_t count) {
    if (part < 0 || static_cast<size_t>(part) >= count)
        throw UsageError(
            concat("DataPartitioner: there is no partition ", part, "; it has ", count));
}

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

// Assigns the samples that rounding down has left over one by one, starting with the
// first part, until all parts together have int((sum of sizes + kRoundingSlack) * n)
// samples, but at most n.
void deal_out_remainder(std::vector<int64_t>& lengths, const std::vector<double>& sizes,
                        int64_t n) {
    const double covered = std::accumulate(sizes.begin(), sizes.end(), kRoundingSlack);
    const int64_t total =
        std::min(n, static_cast<int64_t>(covered * static_cast<double>(n)));
    const int64_t given = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (int64_t k = 0; k < total - given; ++k)
        ++lengths[static_cast<size_t>(k) % lengths.size()];
}

}  // namespace

std::vector<int64_t> partition_lengths(const std::vector<double>& sizes, int64_t n,
                                       bool assign_remainder) {
    check_fractions(sizes);

    std::vector<int64_t> lengths;
    // [lab07.4] Give each part its fraction of the samples, rounded down.
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    // [lab07.4]
    if (assign_remainder) deal_out_remainder(lengths, sizes, n);
    return lengths;
}

std::vector<std::vector<int64_t>> cut_into_runs(const std::vector<int64_t>& list,
                                                const std::vector<int64_t>& lengths) {
    // [lab07.4] Cut the list into consecutive runs, the last ones possibly shorter.
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min<int64_t>(wanted, list.end() - begin);
        runs.emplace_back(begin, begin + length);
        begin += length;
    }
    return runs;
    // [lab07.4]
}

Partition::Partition(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> index)
    : dataset_(std::move(dataset)), index_(std::move(index)) {
    if (!dataset_) throw UsageError("Partition: no dataset was given");
}

int64_t Partition::size() const { return static_cast<int64_t>(index_.size()); }

int64_t Partition::at(int64_t i) const {
    // [lab07.1] Look up position i in the index; throw if i is out of range.
    check_place(i, size());
    return index_[static_cast<size_t>(i)];
    // [lab07.1]
}

Example Partition::get(int64_t i) const {
    // [lab07.1] Return the dataset's sample whose index is at position i.
    return dataset_->get(at(i));
    // [lab07.1]
}

Batch Partition::get_batch(std::span<const int64_t> indices) const {
    // [lab07.1] Translate all positions, and call get_batch once for the whole batch.
    std::vector<int64_t> mapped;
    mapped.reserve(indices.size());
    for (const int64_t i : indices) mapped.push_back(at(i));
    return dataset_->get_batch(mapped);
    // [lab07.1]
}

DataPartitioner::DataPartitioner(std::shared_ptr<const Dataset> dataset,
                                 const std::vector<double>& sizes,
                                 DataPartitionerOptions options)
    : dataset_(std::move(dataset)) {
    if (!dataset_) throw UsageError("DataPartitioner: no dataset was given");
    const int64_t n = dataset_->size();
    const std::vector<int64_t> lengths =
        partition_lengths(sizes, n, options.assign_remainder);

    // [lab07.5] Shuffle all indices, the same on every rank, and cut them into runs.
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(options.seed).shuffle(index);
    partitions_ = cut_into_runs(index, lengths);
    // [lab07.5]
}

DataPartitioner::DataPartitioner(std::shared_ptr<const Dataset> dataset,
                                 const std::vector<double>& sizes, int64_t seed)
    : DataPartitioner(std::move(dataset), sizes, DataPartitionerOptions{.seed = seed}) {}

Partition DataPartitioner::use(int partition) const {
    // [lab07.5] Return the part with its run of indices; throw if there is no such part.
    check_part_number(partition, partitions_.size());
    return Partition(dataset_, partitions_[static_cast<size_t>(partition)]);
    // [lab07.5]
}

}  // namespace mini::data
