// DataLoader: batches, fetched ahead by worker threads, handed out in the sampler's order.
//
//     batch      0   1   2  |   3   4   5   6   |   7   8 ...
//                handed out |   fetched ahead   |   not begun
//
// A worker begins batch k only when k < handed out + workers * factor, so memory is
// bounded. A batch that is ready early waits in its slot, so the order is the same for
// any number of workers.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/data/dataset.hpp"
#include "libmini/data/sampler.hpp"

namespace mini::data {

struct DataLoaderOptions {
    int64_t batch_size = 1;
    bool shuffle = false;
    std::shared_ptr<Sampler> sampler = nullptr;  // excludes shuffle
    bool drop_last = false;
    int num_workers = 0;      // threads; 0 fetches in next()
    int prefetch_factor = 2;  // batches fetched ahead, a worker
    std::chrono::milliseconds timeout = std::chrono::minutes(10);  // for one batch
};

/// `torch.utils.data.DataLoader` with threads for workers. An epoch draws from the
/// calling thread's default generator what PyTorch draws: first the base seed, which here
/// nothing uses, then with shuffle the sampler's.
class DataLoader {
  public:
    /// Throws UsageError when shuffle and sampler are both given, or a number is out of
    /// range.
    DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options);
    ~DataLoader();

    /// Batches in an epoch.
    int64_t size() const;

    /// One epoch under way; it may outlive its loader. Stops its workers when it goes out
    /// of scope, read to the end or not: each finishes the batch in its hands.
    class Epoch {
      public:
        Epoch(const DataLoader& loader, std::vector<std::vector<int64_t>> batches);
        ~Epoch();
        Epoch(Epoch&&) noexcept;

        /// The next batch, or nothing at the end; blocks while it is being fetched. An
        /// exception of Dataset::get_batch is rethrown here, in the place of its batch;
        /// the call after it goes on with the next one. Throws Timeout naming the batch
        /// and its worker.
        std::optional<Batch> next();

      private:
        struct State;
        std::unique_ptr<State> state_;
    };

    /// Starts the next epoch.
    Epoch epoch();

  private:
    std::shared_ptr<const Dataset> dataset_;
    DataLoaderOptions options_;
    std::unique_ptr<BatchSampler> batch_sampler_;
};

}  // namespace mini::data
