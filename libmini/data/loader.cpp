#include "libmini/data/loader.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/random.hpp"

namespace mini::data {
namespace {

void check_options(const DataLoaderOptions& options) {
    if (options.shuffle && options.sampler)
        throw UsageError(
            "DataLoader: shuffle and sampler exclude each other; a sampler decides "
            "the order itself");
    if (options.batch_size < 1)
        throw UsageError(concat("DataLoader: batch_size is ", options.batch_size,
                                " but must be at least 1"));
    if (options.num_workers < 0)
        throw UsageError(concat("DataLoader: num_workers is ", options.num_workers,
                                " but must be at least 0"));
    if (options.prefetch_factor < 1)
        throw UsageError(concat("DataLoader: prefetch_factor is ",
                                options.prefetch_factor, " but must be at least 1"));
}

std::shared_ptr<Sampler> choose_sampler(const DataLoaderOptions& options,
                                        int64_t dataset_size) {
    if (options.sampler) return options.sampler;
    if (options.shuffle) return std::make_shared<RandomSampler>(dataset_size);
    return std::make_shared<SequentialSampler>(dataset_size);
}

}  // namespace

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
    if (!dataset_) throw UsageError("DataLoader: no dataset was given");
    check_options(options_);
    batch_sampler_ =
        std::make_unique<BatchSampler>(choose_sampler(options_, dataset_->size()),
                                       options_.batch_size, options_.drop_last);
}

DataLoader::~DataLoader() = default;

int64_t DataLoader::size() const { return batch_sampler_->size(); }

DataLoader::Epoch DataLoader::epoch() {
    default_generator().random_int64();  // PyTorch's base seed for its worker processes
    return Epoch(*this, batch_sampler_->batches());
}

// What the consumer and the workers share.
struct DataLoader::Epoch::State {
    // A batch fetched ahead, or why it could not be.
    struct Slot {
        std::optional<Batch> batch;
        std::exception_ptr error;
        int worker = -1;  // that has begun it

        bool done() const { return batch || error; }
    };

    State(std::shared_ptr<const Dataset> dataset,
          std::vector<std::vector<int64_t>> batches, const DataLoaderOptions& options);
    ~State();

    std::optional<Batch> next();
    void stop();
    [[noreturn]] void throw_timeout(const Slot& slot) const;
    void work(int worker);
    void fetch(size_t k, Slot& slot) const;
    Slot& slot_of(size_t k) { return slots_[k % slots_.size()]; }

    const std::shared_ptr<const Dataset> dataset_;
    const std::vector<std::vector<int64_t>> batches_;
    const std::chrono::milliseconds timeout_;

    std::mutex mutex_;  // guards all below but workers_
    std::condition_variable batch_done_;
    std::condition_variable slot_free_;
    std::vector<Slot> slots_;  // batch k in slot k modulo their number
    size_t begun_ = 0;         // batches that workers have taken on
    size_t handed_out_ = 0;
    bool stop_ = false;

    std::vector<std::thread> workers_;
};

DataLoader::Epoch::State::State(std::shared_ptr<const Dataset> dataset,
                                std::vector<std::vector<int64_t>> batches,
                                const DataLoaderOptions& options)
    : dataset_(std::move(dataset)),
      batches_(std::move(batches)),
      timeout_(options.timeout) {
    // Start no more workers than there are batches.
    const size_t count =
        std::min(static_cast<size_t>(options.num_workers), batches_.size());
    slots_.resize(
        std::min(count * static_cast<size_t>(options.prefetch_factor), batches_.size()));
    try {
        for (size_t i = 0; i < count; ++i)
            workers_.emplace_back([this, i] { work(static_cast<int>(i)); });
    } catch (const std::system_error& e) {
        const size_t started = workers_.size();
        stop();
        throw Error(concat("DataLoader: worker ", started, " of ", count,
                           " could not be started: ", e.what(), "; use fewer workers"));
    }
}

DataLoader::Epoch::State::~State() { stop(); }

void DataLoader::Epoch::State::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    slot_free_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void DataLoader::Epoch::State::fetch(size_t k, Slot& slot) const {
    try {
        slot.batch = dataset_->get_batch(batches_[k]);
    } catch (...) {
        slot.error = std::current_exception();
    }
}

void DataLoader::Epoch::State::work(int worker) {
    std::unique_lock lock(mutex_);
    while (true) {
        // Wait for a free slot, however long the consumer takes; stop_ ends the wait.
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == batches_.size() ||
                   begun_ < handed_out_ + slots_.size();
        });
        if (stop_ || begun_ == batches_.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;

        // Fetch the next batch while the others go on.
        lock.unlock();
        Slot fetched;
        fetch(k, fetched);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }
}

void DataLoader::Epoch::State::throw_timeout(const Slot& slot) const {
    throw Timeout(concat("DataLoader: batch ", handed_out_, " has not come within ",
                         timeout_.count(), " ms; ",
                         slot.worker < 0
                             ? std::string("no worker has begun it")
                             : concat("worker ", slot.worker, " is fetching it"),
                         "; a faster dataset or a longer timeout helps"));
}

std::optional<Batch> DataLoader::Epoch::State::next() {
    if (handed_out_ == batches_.size()) return std::nullopt;

    Slot slot;
    if (workers_.empty()) {
        fetch(handed_out_++, slot);
    } else {
        // Wait for the batch whose turn it is.
        std::unique_lock lock(mutex_);
        Slot& next_slot = slot_of(handed_out_);
        const bool came =
            batch_done_.wait_for(lock, timeout_, [&] { return next_slot.done(); });
        if (!came) throw_timeout(next_slot);

        // Take it out, and let a worker have its slot.
        slot = std::exchange(next_slot, Slot{});
        ++handed_out_;
        slot_free_.notify_one();
    }
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.batch);
}

DataLoader::Epoch::Epoch(const DataLoader& loader,
                         std::vector<std::vector<int64_t>> batches)
    : state_(std::make_unique<State>(loader.dataset_, std::move(batches),
                                     loader.options_)) {}

DataLoader::Epoch::~Epoch() = default;
DataLoader::Epoch::Epoch(Epoch&&) noexcept = default;

std::optional<Batch> DataLoader::Epoch::next() { return state_->next(); }

}  // namespace mini::data
