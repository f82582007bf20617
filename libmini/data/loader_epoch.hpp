// One epoch of a DataLoader: threads prefetch batches, and the reader gets them in order.
//
//     batch      0   1   2  |   3   4   5   6   |   7   8 ...
//                handed out |    prefetched     |   not started
//
// A worker starts batch k only when k < handed out + workers * factor, so memory is
// bounded. A batch that is ready early waits in its slot, so the order is the same for
// any number of workers. All workers read the same dataset object; it is not copied.
//
// Each epoch starts new threads: about 40 us per worker (short_epochs of data_bench),
// which is little compared to an epoch, so there is no thread pool that outlives it.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// Combines samples into a batch (`collate_fn`). Several threads call it concurrently.
using Collate = std::function<Batch(const std::vector<Example>&)>;

/// The work of one epoch, and how to do it.
struct EpochPlan {
    std::shared_ptr<const Dataset> dataset;
    std::vector<std::vector<int64_t>> batches;  // indices into the dataset
    size_t first = 0;                           // the batch to start with
    Collate collate;                            // if empty: Dataset::get_batch
    uint64_t base_seed = 0;                     // workers seed batch k with base_seed + k
    int num_workers = 0;
    int prefetch_factor = 2;
    std::chrono::milliseconds timeout{};  // per batch
};

/// A running epoch, read by one thread; it may outlive its loader. When it and its
/// iterators are destroyed, read to the end or not, its workers stop after the batches
/// that they are fetching.
class LoaderEpoch {
  public:
    class Iterator;

    explicit LoaderEpoch(EpochPlan plan);
    ~LoaderEpoch();
    LoaderEpoch(LoaderEpoch&&) noexcept;
    LoaderEpoch& operator=(LoaderEpoch&&) noexcept;

    /// Returns the next batch, or std::nullopt at the end; blocks until it is fetched. A
    /// std::exception of the dataset or of collate is thrown here, instead of its batch,
    /// as an Error that names batch and sample, with the exception nested in it; an
    /// exception of another type is rethrown unchanged. After an exception, the next call
    /// continues with the next batch. Throws Timeout naming the batch and its worker.
    std::optional<Batch> next();

    /// Iterates over the remaining batches, for a range-based for: begin() and each ++
    /// call next(), and throw its exceptions.
    Iterator begin();
    std::default_sentinel_t end() const { return {}; }

  private:
    class State;
    std::shared_ptr<State> state_;
};

/// A position in an epoch (a `std::input_iterator`): incrementing one copy advances the
/// epoch for all copies.
class LoaderEpoch::Iterator {
  public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    const Batch& operator*() const { return *batch_; }
    const Batch* operator->() const { return &*batch_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch_; }

  private:
    friend class LoaderEpoch;
    explicit Iterator(std::shared_ptr<State> state);

    std::shared_ptr<State> state_;
    std::optional<Batch> batch_;
};

}  // namespace mini::data
