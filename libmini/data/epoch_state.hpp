// The shared state of one epoch: a ring of slots, which workers fill and the reader empties.
//
//     batch      0 ... | handed_out_ ... begun_-1   | begun_ ...
//                read  | each in a slot of its own  | not started
//
// Whenever mutex_ is free,
//   - handed_out_ <= begun_ <= handed_out_ + slots_.size(), and begun_ is at most the
//     number of batches; so no two batches are in slot k % slots_.size() at once;
//   - the slot of a batch that is begun and not handed out has `worker`, the worker that
//     is fetching it, or is done(): it holds the batch or its exception;
//   - every other slot equals Slot{}.
//
// The reader waits on batch_done_, which is notified when a slot is done(); workers wait
// on slot_free_, which is notified when handed_out_ grows or stop_ is set.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "libmini/data/dataset.hpp"
#include "libmini/data/epoch_plan.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

/// The samples of one epoch of a DataLoader, fetched by its workers ahead of their reader.
class EpochState {
  public:
    /// Starts the workers. Throws Error when a thread cannot be started.
    explicit EpochState(EpochPlan plan);

    /// Waits until the workers have stopped, after the batches that they are fetching.
    ~EpochState() { stop(); }

    /// LoaderEpoch::next().
    std::optional<Batch> next();

  private:
    // A prefetched batch, or the exception of fetching it.
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
    size_t handed_out_ = 0;
    bool stop_ = false;

    std::vector<std::thread> workers_;
};

}  // namespace mini::data
