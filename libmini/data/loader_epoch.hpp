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

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>

#include "libmini/data/dataset.hpp"
#include "libmini/data/epoch_plan.hpp"

namespace mini::data {

class EpochState;

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
    std::shared_ptr<EpochState> state_;
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
    explicit Iterator(std::shared_ptr<EpochState> state);

    std::shared_ptr<EpochState> state_;
    std::optional<Batch> batch_;
};

}  // namespace mini::data
