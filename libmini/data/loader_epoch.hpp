// One epoch of a DataLoader: batches fetched ahead by threads, handed out in order.
//
//     batch      0   1   2  |   3   4   5   6   |   7   8 ...
//                handed out |   fetched ahead   |   not begun
//
// A worker begins batch k only when k < handed out + workers * factor, so memory is
// bounded. A batch that is ready early waits in its slot, so the order is the same for
// any number of workers. All workers read the one dataset; nothing of it is copied.
//
// Each epoch starts threads of its own: some 40 us a worker (short_epochs of data_bench),
// little beside an epoch, so there is no pool of them that would outlive it.

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

/// Makes a batch of samples (`collate_fn`). Safe to call from several threads at once.
using Collate = std::function<Batch(const std::vector<Example>&)>;

/// What an epoch consists of.
struct EpochPlan {
    std::shared_ptr<const Dataset> dataset;
    std::vector<std::vector<int64_t>> batches;  // indices into the dataset
    size_t first = 0;                           // the batch to begin with
    Collate collate;                            // empty: Dataset::get_batch
    uint64_t base_seed = 0;                     // workers seed batch k with base_seed + k
    int num_workers = 0;
    int prefetch_factor = 2;
    std::chrono::milliseconds timeout{};  // for one batch
};

/// An epoch under way, read by one thread; it may outlive its loader. Stops its workers
/// when it and its iterators are gone, read to the end or not: each finishes the batch in
/// its hands.
class LoaderEpoch {
  public:
    class Iterator;

    explicit LoaderEpoch(EpochPlan plan);
    ~LoaderEpoch();
    LoaderEpoch(LoaderEpoch&&) noexcept;
    LoaderEpoch& operator=(LoaderEpoch&&) noexcept;

    /// The next batch, or nothing at the end; blocks while it is being fetched. A
    /// std::exception of the dataset or of collate comes here, in the place of its batch,
    /// as an Error that names batch and sample and has the exception nested in it;
    /// anything else that was thrown comes as it is. The call after it goes on with the
    /// next batch. Throws Timeout naming the batch and its worker.
    std::optional<Batch> next();

    /// The batches still to come, for a range-based for: begin() takes the first, each
    /// ++ the next one, throwing what next() throws.
    Iterator begin();
    std::default_sentinel_t end() const { return {}; }

  private:
    class State;
    std::shared_ptr<State> state_;
};

/// A place in an epoch (a `std::input_iterator`): going on is going on for all copies.
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
