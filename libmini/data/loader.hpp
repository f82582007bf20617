// DataLoader: a dataset in batches, epoch after epoch (`torch.utils.data.DataLoader`).
//
//     DataLoader loader(dataset, {.batch_size = 64, .shuffle = true, .num_workers = 2});
//     for (int64_t e = 0; e < epochs; ++e) {
//         loader.set_epoch(e);
//         for (const Batch& batch : loader) train(batch.data, batch.target);
//     }
//
//     sampler --indices--> batch sampler --batches--> workers --batch k--> for
//
// Workers are threads over one and the same dataset; loader_epoch.hpp says how they share
// the work.

#pragma once

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>

#include "libmini/data/batch_sampler.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/data/loader_epoch.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

struct DataLoaderOptions {
    int64_t batch_size = 1;
    bool shuffle = false;
    std::shared_ptr<Sampler> sampler = nullptr;  // excludes shuffle
    bool drop_last = false;
    std::shared_ptr<BatchSource> batch_sampler = nullptr;  // excludes all above
    int num_workers = 0;        // threads; 0 fetches in the thread that reads
    Collate collate = nullptr;  // absent: Dataset::get_batch
    int prefetch_factor = 2;    // batches fetched ahead, a worker
    std::shared_ptr<Generator> generator = nullptr;  // absent: Stream::kDataOrder's
    std::chrono::milliseconds timeout = std::chrono::minutes(10);  // for one batch
};

/// `torch.utils.data.DataLoader` with threads for workers. The batches and their order
/// are the same for any number of workers.
///
/// An epoch draws what PyTorch's draws, in its order: the base seed, then with shuffle
/// what RandomSampler draws; both from `generator`, or else from the calling thread's
/// generator of Stream::kDataOrder. It draws its whole order when it starts, so one that
/// is left early has drawn as much as one read to the end.
///
/// Random transforms draw from the default generator of the thread they run on. A worker
/// seeds its own with base seed + k before it fetches batch k, so that an augmented epoch
/// is the same for any number of workers from 1 on, whatever their timing. (PyTorch seeds
/// each worker once, with base seed + its number; there augmentation changes with the
/// number of workers.) Without workers the draws come from the thread that reads, one
/// sample after the other, as in PyTorch.
class DataLoader {
  public:
    /// One pass over the data, a range of batches.
    using Epoch = LoaderEpoch;

    /// Throws UsageError saying what to leave out when options exclude each other:
    /// shuffle and sampler; batch_sampler and batch_size, shuffle, sampler or drop_last.
    /// Also when a number is out of range, and for shuffle when the dataset is empty.
    DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options);

    /// Batches in an epoch.
    int64_t size() const;

    /// Passes the epoch on to the sampler or batch sampler; DistributedSampler needs it.
    void set_epoch(int64_t epoch);

    /// Starts the next epoch, or what is left of it from batch `first` on: a training
    /// that was interrupted goes on there. It draws as much as the whole epoch, but
    /// batches before are not fetched. Throws UsageError for a negative `first`.
    Epoch epoch(int64_t first = 0);

    /// Starts the next epoch, for a range-based for.
    Epoch::Iterator begin() { return epoch().begin(); }
    std::default_sentinel_t end() const { return {}; }

  private:
    std::shared_ptr<const Dataset> dataset_;
    DataLoaderOptions options_;
    std::shared_ptr<BatchSource> batch_sampler_;
};

}  // namespace mini::data
