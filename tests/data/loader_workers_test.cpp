// What the checks of lab 08 do not show of a loader's workers: they show the order of the
// batches, the prefetching, the seeds and the timeout.

#include "libmini/data/loader.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/data/loader_support.hpp"
#include "tests/support/catch.hpp"

using mini::data::Batch;
using mini::data::DataLoader;
using mini::data::Example;

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
        if (i == 8) throw 42;  // no std::exception: rethrown unchanged
    };
    DataLoader loader(std::make_shared<Hooked>(10, hook),
                      {.batch_size = 2, .num_workers = workers});
    auto epoch = loader.epoch();
    CHECK(epoch.next().has_value());
    CHECK(epoch.next().has_value());
    CHECK(messages_of([&] { epoch.next(); }) ==
          std::vector<std::string>{"DataLoader: batch 2: sample 5: a bad sample",
                                   "sample 5: a bad sample", "a bad sample"});
    CHECK(epoch.next()->target.to_vector<int64_t>() == Indices{18, 21});
    CHECK_THROWS_AS(epoch.next(), int);
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

TEST_CASE("an abandoned epoch stops its workers after the batches they are fetching") {
    std::atomic<int64_t> fetched = 0;
    const auto dataset = std::make_shared<Hooked>(10'000, [&](int64_t) { ++fetched; });
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

TEST_CASE("the timeout may be the maximum of std::chrono::milliseconds") {
    DataLoader loader(std::make_shared<Numbers>(2),
                      {.num_workers = 1, .timeout = std::chrono::milliseconds::max()});
    CHECK(read(loader.epoch()) == Batches{{0}, {1}});
}
