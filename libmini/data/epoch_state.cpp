#include "libmini/data/epoch_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/thread.hpp"

namespace mini::data {
namespace {

// Longer waits would overflow the clock.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24 * 365);

Batch collated(const EpochPlan& plan, const std::vector<int64_t>& indices) {
    if (plan.collate) return plan.collate(get_each(*plan.dataset, indices));
    return plan.dataset->get_batch(indices);
}

// Fetches batch k and, with pin_memory, copies it to pinned memory. If a std::exception is
// thrown, throws an Error that names the batch, with the exception nested in it.
Batch fetch(const EpochPlan& plan, size_t k) {
    try {
        Batch batch = collated(plan, plan.batches[k]);
        if (plan.pin_memory) batch = {batch.data.pin_memory(), batch.target.pin_memory()};
        return batch;
    } catch (const std::exception& e) {
        std::throw_with_nested(Error(concat("DataLoader: batch ", k, ": ", e.what())));
    }
}

}  // namespace

EpochState::EpochState(EpochPlan plan)
    : plan_(std::move(plan)), reader_(default_generator()) {
    // Start at plan_.first, with at most as many workers as remaining batches.
    begun_ = handed_out_ = std::min(plan_.first, plan_.batches.size());
    const size_t batches = plan_.batches.size() - begun_;
    const size_t workers = std::min(static_cast<size_t>(plan_.num_workers), batches);
    slots_.resize(
        std::min(workers * static_cast<size_t>(plan_.prefetch_factor), batches));
    start(workers);
}

void EpochState::start(size_t workers) {
    try {
        for (size_t i = 0; i < workers; ++i)
            workers_.push_back(start_thread([this, i] { work(static_cast<int>(i)); }));
    } catch (...) {  // no thread or no memory available
        stop();
        throw;
    }
}

void EpochState::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    slot_free_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

// Fetches batch k with fetch(), on a worker's thread, without the lock. First seeds the
// thread's default generator with plan_.base_seed + k. Returns an exception of any type
// in the slot's `error`; throws no exception.
EpochState::Slot EpochState::fetch_ahead(size_t k) const {
    // [lab08.6] Seed for this batch, and fetch it or its exception.
    // The draws of transforms depend on the batch, not on the worker that fetches it.
    default_generator().manual_seed(plan_.base_seed + k);

    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;
    // [lab08.6]
}

// The loop of one worker: begins the next batch as soon as a slot is free, writes the
// worker's number into the slot, fetches the batch without the lock, and puts the batch
// into the slot. Waits without a timeout. Returns, without beginning another batch, when
// stop_ is set or all batches are begun.
void EpochState::work(int worker) {
    default_generator() = reader_;  // to use the reader's rounding

    // [lab08.6] Begin a batch when a slot is free, fetch it, and fill the slot.
    std::unique_lock lock(mutex_);
    while (true) {
        // Wait for a free slot, without a timeout; stop_ ends the wait.
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() ||
                   begun_ < handed_out_ + slots_.size();
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;

        // Fetch the batch without holding the lock.
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }
    // [lab08.6]
}

void EpochState::throw_timeout(const Slot& slot) const {
    throw Timeout(concat("DataLoader: batch ", handed_out_, " was not ready within ",
                         plan_.timeout.count(), " ms; ",
                         slot.worker < 0
                             ? std::string("no worker has started it")
                             : concat("worker ", slot.worker, " is fetching it"),
                         "; use a faster dataset or a longer timeout"));
}

// Waits until batch handed_out_ is done, for at most `longest`. After this time, calls
// throw_timeout with the batch's slot and changes no member. Otherwise moves the batch or
// its exception out of the slot, leaves Slot{} there, increments handed_out_, and returns
// the slot's former contents.
EpochState::Slot EpochState::wait_for_next() {
    const auto longest = std::min(plan_.timeout, kLongestWait);

    // [lab08.6] Wait for the next batch in order, and free its slot.
    std::unique_lock lock(mutex_);
    Slot& next_slot = slot_of(handed_out_);
    const bool done =
        batch_done_.wait_for(lock, longest, [&] { return next_slot.done(); });
    if (!done) throw_timeout(next_slot);

    // Take the batch, and free its slot for a worker.
    Slot slot = std::exchange(next_slot, Slot{});
    ++handed_out_;
    slot_free_.notify_one();
    return slot;
    // [lab08.6]
}

std::optional<Batch> EpochState::next() {
    if (handed_out_ == plan_.batches.size()) return std::nullopt;
    if (workers_.empty()) return fetch(plan_, handed_out_++);

    Slot slot = wait_for_next();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.batch);
}

}  // namespace mini::data
