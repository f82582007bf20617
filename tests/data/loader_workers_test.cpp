#include "libmini/data/loader.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/data/loader_support.hpp"
#include "tests/support/catch.hpp"

using mini::data::Batch;
using mini::data::DataLoader;
using mini::data::Example;

namespace {

// Blocks threads in wait() until open() is called.
class Gate {
  public:
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        opened_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [this] { return is_open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_open_ = false;
};

}  // namespace

TEST_CASE("workers prefetch num_workers times prefetch_factor batches and no more") {
    const int workers = GENERATE(1, 2, 3), factor = GENERATE(1, 2);
    CAPTURE(workers, factor);
    std::atomic<int64_t> handed_out = 0, furthest_ahead = 0, fetched = 0;
    const auto hook = [&](int64_t i) {
        int64_t seen = furthest_ahead;
        const int64_t ahead = i - handed_out;
        while (ahead > seen && !furthest_ahead.compare_exchange_weak(seen, ahead))
            continue;
        ++fetched;
        fetched.notify_all();
    };
    const int64_t n = 50, window = workers * factor;
    DataLoader loader(std::make_shared<Hooked>(n, hook),
                      {.num_workers = workers, .prefetch_factor = factor});
    auto epoch = loader.epoch();

    // Before the first next(), exactly `window` batches are fetched.
    for (int64_t seen = 0; seen < window; seen = fetched) fetched.wait(seen);
    for (int64_t i = 0; i < n; ++i) {
        handed_out = i + 1;  // a worker may start a batch before next() returns
        REQUIRE(epoch.next().has_value());
    }
    CHECK(furthest_ahead == window - 1);
    CHECK(fetched == n);
}

TEST_CASE("a slow batch keeps its position although later batches are ready") {
    Gate first_batch_gate;
    std::atomic<int> others = 0;
    const auto hook = [&](int64_t i) {
        if (i == 0) return first_batch_gate.wait();
        if (++others == 3) first_batch_gate.open();  // batches 1 to 3 finish before 0
    };
    DataLoader loader(std::make_shared<Hooked>(8, hook), {.num_workers = 2});
    CHECK(read(loader.epoch()) == Batches{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
}

TEST_CASE("workers share the dataset object and do not copy it") {
    struct Counted : Numbers {
        explicit Counted(std::atomic<int>& copies) : Numbers(40), copies(copies) {}
        Counted(const Counted& other) : Numbers(other), copies(other.copies) { ++copies; }
        Example get(int64_t i) const override {
            const std::lock_guard lock(mutex);
            seen_from.insert(this);
            return Numbers::get(i);
        }
        std::atomic<int>& copies;
        mutable std::mutex mutex;
        mutable std::set<const void*> seen_from;
    };
    std::atomic<int> copies = 0;
    const auto dataset = std::make_shared<Counted>(copies);
    DataLoader loader(dataset, {.batch_size = 4, .num_workers = 4});
    CHECK(read(loader.epoch()).size() == 10);
    CHECK(copies == 0);
    CHECK(dataset->seen_from == std::set<const void*>{dataset.get()});
}

TEST_CASE(
    "an exception replaces its batch and names the sample and the epoch continues") {
    const int workers = GENERATE(0, 1, 3);
    CAPTURE(workers);
    const auto hook = [](int64_t i) {
        if (i == 5) throw std::runtime_error("a bad sample");
    };
    DataLoader loader(std::make_shared<Hooked>(8, hook),
                      {.batch_size = 2, .num_workers = workers});
    auto epoch = loader.epoch();
    CHECK(epoch.next().has_value());
    CHECK(epoch.next().has_value());
    CHECK(messages_of([&] { epoch.next(); }) ==
          std::vector<std::string>{"DataLoader: batch 2: sample 5: a bad sample",
                                   "sample 5: a bad sample", "a bad sample"});
    CHECK(epoch.next()->target.to_vector<int64_t>() == Indices{18, 21});
    CHECK_FALSE(epoch.next());
}

TEST_CASE("errors of samples and of the collate function name the batch") {
    const auto broken = [](const std::vector<Example>&) -> Batch {
        throw mini::ShapeError("these do not fit");
    };
    const int workers = GENERATE(0, 2);
    DataLoader a(std::make_shared<Numbers>(1),
                 {.num_workers = workers, .collate = broken});
    CHECK(message_of([&] { a.epoch().next(); }) ==
          "DataLoader: batch 0: these do not fit");

    const auto throw_at_1 = [](int64_t i) {
        if (i == 1) throw mini::BadFile("one.png: no such file");
    };
    DataLoader b(
        std::make_shared<Hooked>(2, throw_at_1),
        {.batch_size = 2, .num_workers = workers, .collate = mini::data::collate});
    CHECK(message_of([&] { b.epoch().next(); }) ==
          "DataLoader: batch 0: sample 1: one.png: no such file");
}

TEST_CASE("an exception that is not a std::exception is rethrown unchanged") {
    const auto hook = [](int64_t) { throw 42; };
    const int workers = GENERATE(0, 1);
    DataLoader loader(std::make_shared<Hooked>(1, hook), {.num_workers = workers});
    auto epoch = loader.epoch();
    int caught = 0;
    try {
        epoch.next();
    } catch (int number) {
        caught = number;
    }
    CHECK(caught == 42);
}

TEST_CASE("an abandoned epoch stops its workers after the batches they are fetching") {
    std::atomic<int64_t> fetched = 0;
    const auto dataset = std::make_shared<Hooked>(1'000'000, [&](int64_t) { ++fetched; });
    const int64_t read_batches = GENERATE(0, 1, 3);
    CAPTURE(read_batches);
    {
        DataLoader loader(dataset, {.num_workers = 3, .prefetch_factor = 2});
        auto epoch = loader.epoch();
        for (int64_t i = 0; i < read_batches; ++i) epoch.next();
    }
    CHECK(fetched <= read_batches + 6);
    CHECK(dataset.use_count() == 1);
}

TEST_CASE("a late batch throws Timeout that names the batch and the epoch continues") {
    Gate gate;
    DataLoader loader(std::make_shared<Hooked>(3, [&](int64_t) { gate.wait(); }),
                      {.num_workers = 1, .timeout = std::chrono::milliseconds(1)});
    auto epoch = loader.epoch();
    const std::string message = message_of<mini::Timeout>([&] { epoch.next(); });
    gate.open();
    CHECK(contains(message, "batch 0 was not ready within 1 ms; "));
    std::optional<mini::data::Batch> batch;
    while (!batch) {  // the epoch continues when the batch is ready
        try {
            batch = epoch.next();
        } catch (const mini::Timeout&) {
        }
    }
    CHECK(batch->target.to_vector<int64_t>() == Indices{0});
}

TEST_CASE("the timeout may be the maximum of std::chrono::milliseconds") {
    DataLoader loader(std::make_shared<Numbers>(2),
                      {.num_workers = 1, .timeout = std::chrono::milliseconds::max()});
    CHECK(read(loader.epoch()) == Batches{{0}, {1}});
}
