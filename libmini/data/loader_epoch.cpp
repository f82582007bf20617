#include "libmini/data/loader_epoch.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {
namespace {

// Longer waits would overflow the clock.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24 * 365);

// Fetches batch k; a std::exception becomes an Error that names the batch.
Batch fetch(const EpochPlan& plan, size_t k) {
    const std::vector<int64_t>& indices = plan.batches[k];
    try {
        if (plan.collate) return plan.collate(get_each(*plan.dataset, indices));
        return plan.dataset->get_batch(indices);
    } catch (const std::exception& e) {
        std::throw_with_nested(Error(concat("DataLoader: batch ", k, ": ", e.what())));
    }
}

}  // namespace

// The state that the reader and the workers share.
class LoaderEpoch::State {
  public:
    explicit State(EpochPlan plan);
    ~State() { stop(); }

    std::optional<Batch> next();

  private:
    // A prefetched batch, or the exception of fetching it.
    struct Slot {
        std::optional<Batch> batch;
        std::exception_ptr error;
        int worker = -1;  // the worker that fetches or fetched the batch

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
    const Generator
        reader_;  // the default generator of the thread that started the epoch

    std::mutex mutex_;  // guards all members below except workers_
    std::condition_variable batch_done_;
    std::condition_variable slot_free_;
    std::vector<Slot> slots_;  // batch k is in slot k % slots_.size()
    size_t begun_ = 0;         // number of batches that workers have started
    size_t handed_out_ = 0;
    bool stop_ = false;

    std::vector<std::thread> workers_;
};

LoaderEpoch::State::State(EpochPlan plan)
    : plan_(std::move(plan)), reader_(default_generator()) {
    // Start at plan_.first, with at most as many workers as remaining batches.
    begun_ = handed_out_ = std::min(plan_.first, plan_.batches.size());
    const size_t batches = plan_.batches.size() - begun_;
    const size_t workers = std::min(static_cast<size_t>(plan_.num_workers), batches);
    slots_.resize(
        std::min(workers * static_cast<size_t>(plan_.prefetch_factor), batches));
    start(workers);
}

void LoaderEpoch::State::start(size_t workers) {
    try {
        for (size_t i = 0; i < workers; ++i)
            workers_.emplace_back([this, i] { work(static_cast<int>(i)); });
    } catch (const std::exception& e) {  // no thread or no memory available
        const size_t started = workers_.size();
        stop();
        throw Error(concat("DataLoader: worker ", started, " of ", workers,
                           " could not be started: ", e.what(), "; use fewer workers"));
    }
}

void LoaderEpoch::State::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    slot_free_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

LoaderEpoch::State::Slot LoaderEpoch::State::fetch_ahead(size_t k) const {
    // The draws of transforms depend on the batch, not on the worker that fetches it.
    default_generator().manual_seed(plan_.base_seed + k);

    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;
}

void LoaderEpoch::State::work(int worker) {
    default_generator() = reader_;  // for its rounding and version

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
}

void LoaderEpoch::State::throw_timeout(const Slot& slot) const {
    throw Timeout(concat("DataLoader: batch ", handed_out_, " was not ready within ",
                         plan_.timeout.count(), " ms; ",
                         slot.worker < 0
                             ? std::string("no worker has started it")
                             : concat("worker ", slot.worker, " is fetching it"),
                         "; use a faster dataset or a longer timeout"));
}

LoaderEpoch::State::Slot LoaderEpoch::State::wait_for_next() {
    // Wait for the next batch in order.
    std::unique_lock lock(mutex_);
    Slot& next_slot = slot_of(handed_out_);
    const bool done = batch_done_.wait_for(lock, std::min(plan_.timeout, kLongestWait),
                                           [&] { return next_slot.done(); });
    if (!done) throw_timeout(next_slot);

    // Take the batch, and free its slot for a worker.
    Slot slot = std::exchange(next_slot, Slot{});
    ++handed_out_;
    slot_free_.notify_one();
    return slot;
}

std::optional<Batch> LoaderEpoch::State::next() {
    if (handed_out_ == plan_.batches.size()) return std::nullopt;
    if (workers_.empty()) return fetch(plan_, handed_out_++);

    Slot slot = wait_for_next();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.batch);
}

LoaderEpoch::LoaderEpoch(EpochPlan plan)
    : state_(std::make_shared<State>(std::move(plan))) {}

LoaderEpoch::~LoaderEpoch() = default;
LoaderEpoch::LoaderEpoch(LoaderEpoch&&) noexcept = default;
LoaderEpoch& LoaderEpoch::operator=(LoaderEpoch&&) noexcept = default;

std::optional<Batch> LoaderEpoch::next() { return state_->next(); }

LoaderEpoch::Iterator LoaderEpoch::begin() { return Iterator(state_); }

LoaderEpoch::Iterator::Iterator(std::shared_ptr<State> state)
    : state_(std::move(state)), batch_(state_->next()) {}

LoaderEpoch::Iterator& LoaderEpoch::Iterator::operator++() {
    batch_ = state_->next();
    return *this;
}

}  // namespace mini::data
