// One epoch of a DataLoader: threads prefetch batches, and the reader gets them in order.
//
//     batch      0   1   2  |   3   4   5   6   |   7   8 ...
//                handed out |    prefetched     |   not started
//
// A worker starts batch k only when k < handed out + workers * factor, so memory is
// bounded. A batch that is ready early waits in its slot, so the order is the same for
// any number of workers. All workers read the same dataset object; it is not copied.
//
// Each epoch starts new threads. This costs about 40 us per worker (short_epochs of
// data_bench), which is little compared to an epoch; so epochs share no thread pool.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/data/dataset.hpp"
#include "libmini/data/epoch_plan.hpp"

namespace mini::data {

class EpochState;

/// A running epoch, read by one thread; the epoch may outlive its DataLoader. When the
/// epoch and all its iterators are destroyed, at the end or before, each worker finishes
/// the batch that it is fetching, and stops.
class LoaderEpoch {
  public:
    class Iterator;

    explicit LoaderEpoch(EpochPlan plan);
    ~LoaderEpoch();
    LoaderEpoch(LoaderEpoch&&) noexcept;
    LoaderEpoch& operator=(LoaderEpoch&&) noexcept;

    /// Returns the next batch, or std::nullopt after the last batch; blocks until the
    /// batch is fetched. If the dataset or collate has thrown a std::exception for this
    /// batch, throws an Error that names the batch (and the sample, if get() failed),
    /// with the exception nested in it; rethrows an exception of another type unchanged.
    /// The next call then continues with the following batch. Throws Timeout, naming the
    /// batch and its worker, if a worker does not fetch the batch in time; the next call
    /// then waits for the same batch again.
    std::optional<Batch> next();

    /// Returns an iterator over the remaining batches, for a range-based for loop.
    /// begin() and each ++ call next() and throw the exceptions of next().
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
