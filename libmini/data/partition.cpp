#include "libmini/data/partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/data/fractions.hpp"
#include "libmini/random/python_random.hpp"

// [lab07 file]
namespace mini::data {
namespace {

// Returns 0 .. n-1 in random order, the same for equal arguments.
std::vector<int64_t> shuffled(int64_t n, int64_t seed) {
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    // [lab07.4] Bring the list into the tutorial's order.
    PythonRandom(seed).shuffle(index);
    return index;
    // [lab07.4]
}

}  // namespace

std::vector<int64_t> partition_lengths(const std::vector<double>& sizes, int64_t n,
                                       bool assign_remainder) {
    check_fractions(sizes);

    std::vector<int64_t> lengths;
    // [lab07.2] Give each part its fraction of the samples, rounded down.
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    // [lab07.2]
    if (assign_remainder) assign_remainder_to(lengths, sizes, n);
    return lengths;
}

std::vector<std::vector<int64_t>> cut_into_runs(const std::vector<int64_t>& list,
                                                const std::vector<int64_t>& lengths) {
    // [lab07.2] Cut the list into consecutive runs, the last ones possibly shorter.
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min<int64_t>(wanted, list.end() - begin);
        runs.emplace_back(begin, begin + length);
        begin += length;
    }
    return runs;
    // [lab07.2]
}

Partition::Partition(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> index)
    : dataset_(std::move(dataset)), index_(std::move(index)) {
    if (!dataset_) throw UsageError("Partition: no dataset was given");
}

int64_t Partition::size() const { return static_cast<int64_t>(index_.size()); }

int64_t Partition::at(int64_t i) const {
    // [lab07.1] Look up position i in the index; throw if i is out of range.
    MINI_CHECK(i >= 0 && i < size(), "Partition: there is no sample ", i, "; it has ",
               size());
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
    // [lab07.3] Cut one shuffled list, the same on every rank, into the parts.
    const int64_t n = dataset_->size();
    partitions_ = cut_into_runs(shuffled(n, options.seed),
                                partition_lengths(sizes, n, options.assign_remainder));
    // [lab07.3]
}

Partition DataPartitioner::use(int partition) const {
    // [lab07.3] Return the part with its run of indices; throw if there is no such part.
    const size_t count = partitions_.size();
    if (partition < 0 || static_cast<size_t>(partition) >= count)
        throw UsageError("DataPartitioner: there is no partition ", partition,
                         "; it has ", count);
    return Partition(dataset_, partitions_[static_cast<size_t>(partition)]);
    // [lab07.3]
}

}  // namespace mini::data
// [lab07 file]
