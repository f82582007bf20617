// EpochState: threads fetch the batches of an epoch in advance; the reader gets them in order.
//
//     batch     0 ... k-1  |  k ... k + workers * factor - 1  |  ...
//               returned   |  fetched, or being fetched       |  not begun
//
// The bound limits the memory. All workers read the same dataset object; it is not copied.
//
// Each epoch starts new threads. This costs about 40 us per worker (short_epochs of
// bench_worker data), which is little compared to an epoch; so epochs share no thread pool.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// The batches of one epoch, and the options for fetching them.
struct EpochPlan {
    std::function<Batch(size_t k)> fetch;  // several workers call it concurrently
    size_t first = 0;                      // the index of the first batch
    size_t end = 0;                        // the index after the last batch
    uint64_t base_seed = 0;                // the seed of batch k is base_seed + k
    int num_workers = 0;
    int prefetch_factor = 2;
    std::chrono::milliseconds timeout{};  // per batch that a worker fetches
};

/// A running epoch of a DataLoader, read by one thread.
///
/// - Workers call fetch(k) concurrently, once for each batch, without waiting for a call
///   of next(). A worker that is free begins the first batch that is not begun, if fewer
///   than num_workers * prefetch_factor batches are begun and not returned by next().
/// - Before a worker fetches batch k, its default generator is a copy of the default
///   generator of the thread that constructed the epoch, seeded with base_seed + k.
class EpochState {
  public:
    /// Starts the workers: num_workers of them, or one per batch if there are fewer
    /// batches. Throws Error when a thread cannot be started; no thread runs then.
    /// REQUIRES: first <= end, num_workers >= 0, prefetch_factor >= 1.
    explicit EpochState(EpochPlan plan);

    /// Stops the workers; blocks until each has finished the batch that it is fetching.
    ~EpochState();

    /// Returns the batches first .. end-1 in order, one a call, then std::nullopt. If
    /// fetch(k) has thrown an exception of any type, throws this exception in place of
    /// batch k; the next call continues with the following batch. Throws Timeout, naming
    /// the batch, if it is not fetched within the timeout; the next call waits for the same
    /// batch again. Without workers, calls fetch(k) itself, unseeded and without a timeout.
    std::optional<Batch> next();

  private:
    struct Impl;  // what a running epoch consists of: epoch_state.cpp defines it
    std::unique_ptr<Impl> impl_;
};

}  // namespace mini::data
