// The checks of task 08.6: workers fetch ahead, but not too far, and the batches come in
// order. The datasets of these checks decide which batch is ready first, so no case
// depends on the speed of the machine. Each wait has a limit of 5 s, which only a wrong
// loader reaches.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/names_number.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::concat, mini::Generator;
using mini::data::DataLoader, mini::data::DataLoaderOptions;
using mini::labs::Indices, mini::labs::Numbered, mini::labs::all_of;

namespace {

constexpr std::chrono::milliseconds kLimit = std::chrono::seconds(5);

// A Numbered that calls a function before it returns sample i.
class Watched : public Numbered {
  public:
    Watched(int64_t size, std::function<void(int64_t)> before)
        : Numbered(size), before_(std::move(before)) {}
    mini::data::Example get(int64_t i) const override {
        before_(i);
        return Numbered::get(i);
    }

  private:
    std::function<void(int64_t)> before_;
};

// A count that threads increase and wait for.
class Count {
  public:
    void add() {
        const std::lock_guard lock(mutex_);
        ++value_;
        changed_.notify_all();
    }
    /// Blocks until the count is at least `value`. Returns false if that takes over 5 s.
    bool reaches(int64_t value) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, kLimit, [&] { return value_ >= value; });
    }
    int64_t value() {
        const std::lock_guard lock(mutex_);
        return value_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int64_t value_ = 0;
};

// The samples 0 .. size-1 in batches, so that 08.6 does not need the sampler of 08.4.
class InBatches : public mini::data::BatchSource {
  public:
    InBatches(int64_t size, int64_t batch_size) {
        for (int64_t i = 0; i < size; ++i) {
            if (i % batch_size == 0) all_.emplace_back();
            all_.back().push_back(i);
        }
    }
    std::vector<Indices> batches() override { return all_; }
    int64_t size() override { return static_cast<int64_t>(all_.size()); }
    void set_epoch(int64_t) override {}

  private:
    std::vector<Indices> all_;
};

DataLoader loader_of(int64_t size, std::function<void(int64_t)> before,
                     DataLoaderOptions options,
                     std::chrono::milliseconds timeout = kLimit) {
    options.timeout = timeout;
    options.batch_sampler = std::make_shared<InBatches>(size, options.batch_size);
    options.batch_size = 1;
    return {std::make_shared<Watched>(size, std::move(before)), std::move(options)};
}

// Returns the samples of the remaining batches of the epoch.
Indices rest_of(DataLoader::Epoch& epoch) {
    Indices seen;
    while (const auto batch = epoch.next()) {
        const auto samples = batch->target.to_vector<int64_t>();
        seen.insert(seen.end(), samples.begin(), samples.end());
    }
    return seen;
}

}  // namespace

TEST_CASE("all samples come once and in order with any number of workers",
          "[lab08][lab08.6]") {
    const int workers = GENERATE(0, 1, 2, 3, 4, 7), factor = GENERATE(1, 2);
    const int64_t n = GENERATE(0, 1, 5, 64, 301);
    auto loader =
        loader_of(n, [](int64_t) {},
                  {.batch_size = 4, .num_workers = workers, .prefetch_factor = factor});
    auto epoch = loader.epoch();
    INFO(n << " samples in batches of 4, " << workers << " workers, prefetch_factor "
           << factor << "; hint 1 of 08.6");
    CHECK(rest_of(epoch) == all_of(n));
    CHECK_FALSE(epoch.next());
}

TEST_CASE("an epoch may begin at any batch, and no earlier one is fetched",
          "[lab08][lab08.6]") {
    const int workers = GENERATE(0, 1, 2, 3), first = GENERATE(1, 4, 7, 9);
    Count fetched;
    auto loader = loader_of(7, [&](int64_t) { fetched.add(); }, {.num_workers = workers});
    auto epoch = loader.epoch(first);
    const Indices all = all_of(7), expected(all.begin() + std::min(first, 7), all.end());
    INFO("7 batches, " << workers << " workers, the first batch is " << first);
    CHECK(rest_of(epoch) == expected);
    CHECK(fetched.value() == static_cast<int64_t>(expected.size()));
}

TEST_CASE("a batch that is ready early waits for its turn", "[lab08][lab08.6]") {
    Count ready;
    std::atomic<bool> three_ahead = true;
    const auto before = [&](int64_t i) {
        if (i == 0 && !ready.reaches(3)) three_ahead = false;
        if (i != 0) ready.add();
    };
    auto loader = loader_of(8, before, {.num_workers = 2});
    auto epoch = loader.epoch();
    INFO(
        "batch 0 is slow, batches 1, 2 and 3 are ready before it: the order stays 0, 1,");
    INFO("2, ...; the reader takes the next batch, not the first one that is ready");
    CHECK(rest_of(epoch) == all_of(8));
    INFO("while one worker fetches batch 0, the other fetches the batches 1, 2 and 3");
    CHECK(three_ahead);
}

TEST_CASE("workers fetch at the same time", "[lab08][lab08.6]") {
    Count fetching;
    std::atomic<bool> all_at_once = true;
    const auto before = [&](int64_t i) {
        if (i >= 3) return;
        fetching.add();
        if (!fetching.reaches(3)) all_at_once = false;
    };
    auto loader = loader_of(6, before, {.num_workers = 3});
    auto epoch = loader.epoch();
    INFO("each of the batches 0, 1 and 2 waits until the other two are fetched as well.");
    INFO("If a mutex is locked during the fetch, they never are; hint 2 of 08.6");
    CHECK(fetching.reaches(3));
    CHECK(all_at_once);
}

TEST_CASE("workers fetch ahead as far as there are slots and no further",
          "[lab08][lab08.6]") {
    const int workers = GENERATE(1, 2, 3), factor = GENERATE(1, 2, 3);
    const int64_t n = 50, slots = workers * factor;
    std::atomic<int64_t> asked_for = 0, furthest = -1;
    Count fetched;
    const auto before = [&](int64_t i) {
        int64_t seen = furthest;
        const int64_t ahead = i - asked_for;
        while (ahead > seen && !furthest.compare_exchange_weak(seen, ahead)) continue;
        fetched.add();
    };
    auto loader =
        loader_of(n, before, {.num_workers = workers, .prefetch_factor = factor});
    auto epoch = loader.epoch();
    INFO(workers << " workers, prefetch_factor " << factor << ": " << slots << " slots");
    INFO("before the first next(), " << slots << " batches should be fetched");
    CHECK(fetched.reaches(slots));
    for (int64_t i = 0; i < n; ++i) {
        asked_for = i + 1;  // a worker may begin a batch before next() returns
        REQUIRE(epoch.next());
    }
    INFO("batch k begins only when batch k - " << slots << " is taken; the furthest was "
                                               << furthest + 1 << " ahead");
    CHECK(furthest < slots);
    CHECK(fetched.value() == n);
}

TEST_CASE("each batch that is taken lets one more begin", "[lab08][lab08.6]") {
    Count fetched;
    auto loader = loader_of(20, [&](int64_t) { fetched.add(); },
                            {.num_workers = 2, .prefetch_factor = 1});
    auto epoch = loader.epoch();
    for (int64_t k = 0; k < 10; ++k) {
        INFO("after " << k << " batches were taken, 2 more should be fetched ahead");
        INFO("a worker that waits for a slot must be told that one is free; hint 2");
        REQUIRE(fetched.reaches(k + 2));
        REQUIRE(epoch.next());
    }
}

TEST_CASE("a batch is seeded by its number and not by its worker", "[lab08][lab08.6]") {
    const int workers = GENERATE(1, 2, 3, 4, 7);
    std::vector<uint32_t> drawn(24);
    std::atomic<bool> rounds_alike = true;
    const auto before = [&](int64_t i) {
        drawn[static_cast<size_t>(i)] = mini::default_generator().random();
        if (mini::default_generator().rounding() != mini::Rounding::kSeparate)
            rounds_alike = false;
    };
    mini::default_generator().set_rounding(mini::Rounding::kSeparate);
    auto loader = loader_of(24, before,
                            {.batch_size = 2,
                             .num_workers = workers,
                             .generator = std::make_shared<Generator>(7)});
    const uint32_t next_of_reader = Generator(mini::default_generator()).random();
    auto epoch = loader.epoch();
    rest_of(epoch);

    const auto base = static_cast<uint64_t>(Generator(7).random_int64());
    for (uint64_t k = 0; k < 12; ++k) {
        Generator reference(base + k);
        INFO("batch " << k << ", " << workers
                      << " workers: its samples draw from base_seed + " << k
                      << ", whichever worker fetches it; hint 2 of 08.6");
        CHECK(drawn[2 * k] == reference.random());
        CHECK(drawn[2 * k + 1] == reference.random());
    }
    INFO("a worker's generator is a copy of the reader's, with the reader's rounding");
    CHECK(rounds_alike);
    INFO("the generator of the reading thread is its own");
    CHECK(mini::default_generator().random() == next_of_reader);
}

TEST_CASE("an exception comes in place of its batch", "[lab08][lab08.6]") {
    const int workers = GENERATE(0, 1, 2, 3);
    const auto before = [](int64_t i) {
        if (i == 2) throw std::runtime_error("a bad sample");
        if (i == 4) throw 42;
    };
    auto loader = loader_of(8, before, {.num_workers = workers});
    auto epoch = loader.epoch();
    CHECK(epoch.next());
    CHECK(epoch.next());
    INFO("batch 2 threw: next() throws what fetch() has thrown, an Error here");
    CHECK(mini::test::message_of([&] { epoch.next(); }) ==
          "DataLoader: batch 2: sample 2: a bad sample");
    CHECK(epoch.next());
    INFO(
        "batch 4 threw an int: catch (...) takes exceptions of any type; hint 2 of 08.6");
    CHECK_THROWS_AS(epoch.next(), int);
    INFO("the epoch goes on with batch 5");
    CHECK(rest_of(epoch) == Indices{5, 6, 7});
}

TEST_CASE("a late batch is a Timeout and comes later", "[lab08][lab08.6]") {
    Count gate;
    auto loader = loader_of(
        1, [&](int64_t) { gate.reaches(1); }, {.num_workers = 1},
        std::chrono::milliseconds(1));
    auto epoch = loader.epoch();
    const std::string message =
        mini::test::message_of<mini::Timeout>([&] { epoch.next(); });
    gate.add();
    INFO("batch 0 is not ready within 1 ms: a Timeout that names batch 0; the text was "
         << message);
    CHECK(mini::labs::names_number(message, 0));

    std::optional<mini::data::Batch> batch;
    for (bool late = true; late;) try {
            batch = epoch.next();
            late = false;
        } catch (const mini::Timeout&) {
        }
    INFO("a Timeout changes nothing: the next call waits for batch 0 again");
    REQUIRE(batch);
    CHECK(batch->target.to_vector<int64_t>() == Indices{0});
}

TEST_CASE("an epoch that is left early stops its workers", "[lab08][lab08.6]") {
    const int64_t taken = GENERATE(0, 1, 3);
    Count fetched;
    {
        auto loader =
            loader_of(10'000, [&](int64_t) { fetched.add(); }, {.num_workers = 3});
        auto epoch = loader.epoch();
        for (int64_t i = 0; i < taken; ++i) REQUIRE(epoch.next());
    }
    INFO(taken << " batches were taken, and there are 6 slots: at most " << taken + 6
               << " batches are begun, of 10000; the destructor stops the workers");
    CHECK(fetched.value() <= taken + 6);
}
