// DataLoader: iterates over a dataset in batches (`torch.utils.data.DataLoader`).
//
//     DataLoader loader(dataset, {.batch_size = 64, .shuffle = true, .num_workers = 2});
//     for (int64_t e = 0; e < epochs; ++e) {
//         loader.set_epoch(e);
//         for (const Batch& batch : loader) train(batch.data, batch.target);
//     }
//
//     sampler --indices--> batch sampler --batches--> workers --batch k--> for
//
// Workers are threads that read the same dataset object; epoch_state.hpp describes how
// they share the work.

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

#include "libmini/data/batch_sampler.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/data/epoch_state.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

/// Combines samples into a batch (`collate_fn`). Several workers call the function
/// concurrently.
using Collate = std::function<Batch(const std::vector<Example>&)>;

/// A running epoch, read by one thread; the epoch may outlive its DataLoader. When the
/// epoch and all its iterators are destroyed, at the end or before, each worker finishes
/// the batch that it is fetching, and stops.
class LoaderEpoch {
  public:
    class Iterator;

    explicit LoaderEpoch(EpochPlan plan)
        : state_(std::make_shared<EpochState>(std::move(plan))) {}
    LoaderEpoch(LoaderEpoch&&) noexcept = default;
    LoaderEpoch& operator=(LoaderEpoch&&) noexcept = default;

    /// Returns the next batch, or std::nullopt after the last batch; blocks until the
    /// batch is fetched. If the dataset or collate has thrown a std::exception for this
    /// batch, throws an Error that names the batch (and the sample, if get() failed),
    /// with the exception nested in it; rethrows an exception of another type unchanged.
    /// The next call then continues with the following batch. Throws Timeout, naming the
    /// batch and its worker, if a worker does not fetch the batch in time; the next call
    /// then waits for the same batch again.
    std::optional<Batch> next() { return state_->next(); }

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
    using value_type = Batch;                ///< What `std::input_iterator` requires.
    using difference_type = std::ptrdiff_t;  ///< Likewise.

    const Batch& operator*() const { return *batch_; }
    const Batch* operator->() const { return &*batch_; }
    Iterator& operator++() {
        batch_ = state_->next();
        return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch_; }

  private:
    friend class LoaderEpoch;
    explicit Iterator(std::shared_ptr<EpochState> state)
        : state_(std::move(state)), batch_(state_->next()) {}

    std::shared_ptr<EpochState> state_;
    std::optional<Batch> batch_;
};

inline LoaderEpoch::Iterator LoaderEpoch::begin() { return Iterator(state_); }

struct DataLoaderOptions {
    int64_t batch_size = 1;
    bool shuffle = false;
    std::shared_ptr<Sampler> sampler = nullptr;  // excludes shuffle
    bool drop_last = false;
    std::shared_ptr<BatchSource> batch_sampler = nullptr;  // excludes the options above
    int num_workers = 0;        // threads; with 0, the reading thread fetches batches
    Collate collate = nullptr;  // if empty: Dataset::get_batch
    int prefetch_factor = 2;    // batches fetched ahead per worker
    /// Copies each batch to pinned memory where it is fetched, so that its later copy to a
    /// GPU need not block (Tensor::to with non_blocking). Reading a batch throws Error if
    /// the batch is on a GPU, or in a build without CUDA.
    bool pin_memory = false;
    /// If null: the calling thread's default_generator().
    std::shared_ptr<Generator> generator = nullptr;
    std::chrono::milliseconds timeout = std::chrono::minutes(10);  // per batch
};

/// `torch.utils.data.DataLoader` with threads as workers. The indices in each batch and
/// the order of the batches are the same for any number of workers.
///
/// An epoch draws the same random numbers as in PyTorch, in the same order: first the
/// base seed, then, with shuffle, the numbers of RandomSampler. Both come from
/// `generator` or, if it is null, from the calling thread's default_generator(). All
/// these numbers are drawn when the epoch starts, so an epoch that is abandoned early
/// draws as many numbers as an epoch that is read to the end.
///
/// Random transforms draw from the default generator of the thread that calls them. A
/// worker seeds its generator with base seed + k before it fetches batch k. So, with one
/// or more workers, the random transforms give the same results for any number of workers
/// and any timing. (PyTorch seeds each worker once, with base seed + worker id; there the
/// results depend on the number of workers.) Without workers, transforms draw from the
/// reading thread's generator, sample by sample, as in PyTorch.
class DataLoader {
  public:
    /// One pass over the data, a range of batches.
    using Epoch = LoaderEpoch;

    /// Throws UsageError naming the option to leave out when options exclude each other:
    /// shuffle and sampler; batch_sampler and any of batch_size, shuffle, sampler and
    /// drop_last. Throws UsageError when a number is out of range, or when shuffle is set
    /// for an empty dataset.
    DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options);

    /// Returns the number of batches in an epoch.
    int64_t size() const;

    /// Forwards the epoch to the sampler or batch sampler. Call set_epoch before each
    /// epoch if the sampler is a DistributedSampler.
    void set_epoch(int64_t epoch);

    /// Starts the next epoch at batch `first`, where an interrupted training resumes (after
    /// set_epoch), and returns the epoch. Draws as many random numbers as for the whole epoch,
    /// but fetches no batch before `first`. Throws UsageError for a negative `first`.
    Epoch epoch(int64_t first = 0);

    /// Starts the next epoch, for a range-based for loop, and returns its iterator.
    Epoch::Iterator begin() { return epoch().begin(); }
    std::default_sentinel_t end() const { return {}; }

  private:
    std::shared_ptr<const Dataset> dataset_;
    DataLoaderOptions options_;
    std::shared_ptr<BatchSource> batch_sampler_;
};

}  // namespace mini::data
