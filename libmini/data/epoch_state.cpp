#include "libmini/data/epoch_state.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/thread.hpp"
#include "libmini/random/random.hpp"

// [lab08 file]
namespace mini::data {

// If there are workers, these invariants hold whenever no thread holds the mutex:
//   - handed_out <= begun <= handed_out + slots.size(), so no slot has to hold two batches;
//     and begun <= plan.end;
//   - the slot of a batch that is begun and not handed out has the number of the worker
//     that is fetching the batch, or is done(): it holds the batch or an exception;
//   - every other slot equals Slot{}.
struct EpochState::Impl {
    // A prefetched batch, or the exception that was thrown while it was fetched.
    struct Slot {
        std::optional<Batch> batch = {};
        std::exception_ptr error = {};
        int worker = -1;  // the worker that is fetching the batch

        bool done() const { return batch || error; }
    };

    ~Impl();  // stops the workers

    // The loop of one worker; returns when all batches are begun, or stop is set.
    void work(int worker);

    // Fetches batch k on a worker's thread, without the lock; throws no exception.
    Slot fetch_ahead(size_t k) const;

    // Waits for batch handed_out, and takes it out of its slot.
    Slot wait_for_next();

    [[noreturn]] void throw_timeout(const Slot& slot) const;
    Slot& slot_of(size_t k) { return slots[k % slots.size()]; }

    const EpochPlan plan;
    const Generator reader;  // the default generator of the thread that reads

    std::mutex mutex = {};                    // guards all members below except workers
    std::condition_variable batch_done = {};  // a slot is done(); the reader waits
    std::condition_variable slot_free = {};   // handed_out grew, or stop is set
    std::vector<Slot> slots = {};             // batch k is in slot k % slots.size()
    size_t begun = 0;       // number of batches that workers have started
    size_t handed_out = 0;  // number of batches that the reader has taken
    bool stop = false;

    std::vector<std::thread> workers = {};
};

EpochState::EpochState(EpochPlan plan)
    : impl_(new Impl{.plan = std::move(plan), .reader = default_generator()}) {
    // Start at most as many workers as there are batches.
    Impl& impl = *impl_;
    impl.begun = impl.handed_out = impl.plan.first;
    const size_t batches = impl.plan.end - impl.plan.first;
    const size_t workers = std::min(static_cast<size_t>(impl.plan.num_workers), batches);
    impl.slots.resize(
        std::min(workers * static_cast<size_t>(impl.plan.prefetch_factor), batches));
    for (size_t i = 0; i < workers; ++i)
        impl.workers.push_back(
            start_thread([&impl, i] { impl.work(static_cast<int>(i)); }));
}

EpochState::~EpochState() = default;

EpochState::Impl::~Impl() {
    {
        const std::lock_guard lock(mutex);
        stop = true;
    }
    slot_free.notify_all();
    for (std::thread& worker : workers) worker.join();
}

EpochState::Impl::Slot EpochState::Impl::fetch_ahead(size_t k) const {
    // [lab08.6] Seed for this batch, and fetch it or its exception.
    // The draws of transforms depend on the batch, not on the worker that fetches it.
    default_generator().manual_seed(plan.base_seed + k);

    Slot slot;
    try {
        slot.batch = plan.fetch(k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;
    // [lab08.6]
}

void EpochState::Impl::work(int worker) {
    default_generator() = reader;  // to use the reader's rounding

    // [lab08.6] Begin a batch when a slot is free, fetch it, and fill the slot.
    std::unique_lock lock(mutex);
    while (true) {
        // Wait for a free slot, without a timeout; stop ends the wait.
        slot_free.wait(lock, [this] {
            return stop || begun == plan.end || begun < handed_out + slots.size();
        });
        if (stop || begun == plan.end) return;
        const size_t k = begun++;
        slot_of(k).worker = worker;

        // Fetch the batch without holding the lock.
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done.notify_one();
    }
    // [lab08.6]
}

void EpochState::Impl::throw_timeout(const Slot& slot) const {
    throw Timeout(concat("DataLoader: batch ", handed_out, " was not ready within ",
                         plan.timeout.count(), " ms; ",
                         slot.worker < 0
                             ? std::string("no worker has started it")
                             : concat("worker ", slot.worker, " is fetching it"),
                         "; use a faster dataset or a longer timeout"));
}

EpochState::Impl::Slot EpochState::Impl::wait_for_next() {
    // [lab08.6] Wait for the next batch in order, and free its slot.
    std::unique_lock lock(mutex);
    Slot& next_slot = slot_of(handed_out);
    const bool done =
        batch_done.wait_for(lock, plan.timeout, [&] { return next_slot.done(); });
    if (!done) throw_timeout(next_slot);

    // Take the batch, and free its slot for a worker.
    Slot slot = std::exchange(next_slot, Slot{});
    ++handed_out;
    slot_free.notify_one();
    return slot;
    // [lab08.6]
}

std::optional<Batch> EpochState::next() {
    if (impl_->handed_out == impl_->plan.end) return std::nullopt;
    if (impl_->workers.empty()) return impl_->plan.fetch(impl_->handed_out++);

    Impl::Slot slot = impl_->wait_for_next();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.batch);
}

}  // namespace mini::data
// [lab08 file]
