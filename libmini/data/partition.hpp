// Partition and DataPartitioner: a dataset shuffled once and split into fractions, one
// per rank, as in PyTorch's tutorial "Writing Distributed Applications with PyTorch".
//
//     n = 10, sizes (0.5, 0.25, 0.25)   shuffled   2 8 3 5 6 | 4 9 | 0 1 | 7
//                                       partition      0        1     2    no part
//
//     with assign_remainder             shuffled   2 8 3 5 6 4 | 9 0 | 1 7
//                                       partition       0         1     2

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// A subset of a dataset, given by a list of indices (the tutorial's `Partition`,
/// `torch.utils.data.Subset`).
class Partition : public Dataset {
  public:
    /// Throws UsageError if `dataset` is null.
    Partition(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> index);
    int64_t size() const override;

    /// Returns the dataset's sample index()[i]. Throws Error, which names i and size(),
    /// unless 0 <= i < size().
    Example get(int64_t i) const override;

    /// Returns the samples get(i) for each i of `indices`, in this order, with one call
    /// of the dataset's get_batch. Throws Error unless 0 <= i < size() for each i.
    Batch get_batch(std::span<const int64_t> indices) const override;

    const std::vector<int64_t>& index() const { return index_; }

  private:
    int64_t at(int64_t i) const;  // index_[i], with a range check

    std::shared_ptr<const Dataset> dataset_;
    std::vector<int64_t> index_;
};

/// Returns how many of n samples each fraction gets: int(sizes[k] * n), in double, as in
/// the tutorial. With assign_remainder, assign_remainder_to (fractions.hpp) adds what
/// rounding down leaves over: all parts together have n samples if the fractions sum to 1
/// up to rounding errors. Throws UsageError as check_fractions (fractions.hpp).
std::vector<int64_t> partition_lengths(const std::vector<double>& sizes, int64_t n,
                                       bool assign_remainder = false);

/// Returns consecutive runs of `list`, one per length. The first run begins at the front
/// of the list; each other run begins where the previous run ends. If fewer elements are
/// left than a run's length, the run has only these elements, and may be empty. Elements
/// behind the last run are in no run. REQUIRES: no length is negative.
std::vector<std::vector<int64_t>> cut_into_runs(const std::vector<int64_t>& list,
                                                const std::vector<int64_t>& lengths);

struct DataPartitionerOptions {
    int64_t seed = 1234;
    bool assign_remainder = false;  // false: the remainder belongs to no part
};

/// Splits a dataset of n samples into parts (the tutorial's `DataPartitioner`). The parts
/// are the runs of the shuffled list 0 .. n-1, with the lengths partition_lengths(sizes, n,
/// assign_remainder). The order of the list depends on n and seed only: it is that of
/// PythonRandom(seed).shuffle, which equals Python's random.Random(seed).shuffle. Neither
/// uses nor changes default_generator().
class DataPartitioner {
  public:
    /// Throws UsageError if `dataset` is null, or as partition_lengths.
    DataPartitioner(std::shared_ptr<const Dataset> dataset,
                    const std::vector<double>& sizes,
                    DataPartitionerOptions options = {});
    DataPartitioner(std::shared_ptr<const Dataset> dataset,
                    const std::vector<double>& sizes, int64_t seed)
        : DataPartitioner(std::move(dataset), sizes,
                          DataPartitionerOptions{.seed = seed}) {}

    /// Returns part number `partition`. Throws UsageError, which names it and the number
    /// of parts, when it is out of range.
    Partition use(int partition) const;

  private:
    std::shared_ptr<const Dataset> dataset_;
    std::vector<std::vector<int64_t>> partitions_;
};

}  // namespace mini::data
