// What a DataLoader's workers share in an epoch: a ring of slots, which the reader empties.
//
//     batch      0 ... | handed_out_ ... begun_-1   | begun_ ...
//                read  | each in a slot of its own  | not started
//
// If there are workers, these invariants hold whenever no thread holds mutex_:
//   - handed_out_ <= begun_ <= handed_out_ + slots_.size(), and begun_ is at most the
//     number of batches; so a slot never has to hold two batches;
//   - the slot of a batch that is begun and not handed out has the number of the worker
//     that is fetching the batch, or is done(): it holds the batch or an exception;
//   - every other slot equals Slot{}.
//
// The reader waits on batch_done_, which is notified when a slot is done(); workers wait
// on slot_free_, which is notified when handed_out_ grows or stop_ is set.
//
// So a worker starts batch k only when k < handed_out_ + workers * factor, and memory is
// bounded. A batch that is ready early waits in its slot, so the order is the same for any
// number of workers. All workers read the same dataset object; it is not copied.
//
// Each epoch starts new threads. This costs about 40 us per worker (short_epochs of
// bench_worker data), which is little compared to an epoch; so epochs share no thread pool.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "libmini/data/dataset.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

/// Combines samples into a batch (`collate_fn`). Several workers call the function
/// concurrently.
using Collate = std::function<Batch(const std::vector<Example>&)>;

/// The batches of one epoch, and the options for fetching them.
struct EpochPlan {
    std::shared_ptr<const Dataset> dataset;
    std::vector<std::vector<int64_t>> batches;  // indices into the dataset
    size_t first = 0;                           // the index of the first batch
    Collate collate;                            // if empty: Dataset::get_batch
    uint64_t base_seed = 0;                     // the seed of batch k is base_seed + k
    int num_workers = 0;
    int prefetch_factor = 2;
    bool pin_memory = false;              // Tensor::pin_memory of each batch
    std::chrono::milliseconds timeout{};  // per batch that a worker fetches
};

/// A running epoch of a DataLoader, with workers that fetch batches in advance.
class EpochState {
  public:
    /// Starts the workers. Throws Error when a thread cannot be started.
    explicit EpochState(EpochPlan plan);

    /// Stops the workers; blocks until each has finished the batch that it is fetching.
    ~EpochState() { stop(); }

    /// Implements LoaderEpoch::next().
    std::optional<Batch> next();

  private:
    // A prefetched batch, or the exception that was thrown while it was fetched.
    struct Slot {
        std::optional<Batch> batch;
        std::exception_ptr error;
        int worker = -1;  // the worker that is fetching the batch

        bool done() const { return batch || error; }
    };

    void start(size_t workers);
    void stop();
    void work(int worker);
    Slot fetch_ahead(size_t k) const;
    Slot wait_for_next();
    [[noreturn]] void throw_timeout(const Slot& slot) const;
    Slot& slot_of(size_t k) { return slots_[k % slots_.size()]; }

    const EpochPlan plan_;
    const Generator reader_;  // the default generator of the thread that reads

    std::mutex mutex_;  // guards all members below except workers_
    std::condition_variable batch_done_;
    std::condition_variable slot_free_;
    std::vector<Slot> slots_;  // batch k is in slot k % slots_.size()
    size_t begun_ = 0;         // number of batches that workers have started
    size_t handed_out_ = 0;    // batches that the reader has taken; it reads this unlocked
    bool stop_ = false;

    std::vector<std::thread> workers_;
};

}  // namespace mini::data
