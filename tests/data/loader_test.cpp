#include "libmini/data/loader.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "libmini/core/error.hpp"
#include "libmini/core/random.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::UsageError;
using mini::data::Batch;
using mini::data::DataLoader;
using mini::data::DataLoaderOptions;
using mini::data::Example;
using Indices = std::vector<int64_t>;
using Batches = std::vector<Indices>;

namespace {

// The indices that an epoch hands out, read back from the targets.
Batches read(DataLoader::Epoch epoch) {
    Batches batches;
    while (const std::optional<Batch> batch = epoch.next()) {
        Indices indices = batch->target.to_vector<int64_t>();
        for (int64_t& i : indices) i /= 3;
        batches.push_back(indices);
    }
    CHECK_FALSE(epoch.next());
    return batches;
}

// A door that stays shut until someone opens it.
class Door {
  public:
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        opened_.notify_all();
    }
    void pass() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [this] { return is_open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_open_ = false;
};

// Numbers that run a function before they give sample i.
class Hooked : public Numbers {
  public:
    Hooked(int64_t size, std::function<void(int64_t)> hook)
        : Numbers(size), hook_(std::move(hook)) {}
    Example get(int64_t i) const override {
        hook_(i);
        return Numbers::get(i);
    }

  private:
    std::function<void(int64_t)> hook_;
};

}  // namespace

TEST_CASE("DataLoader shuffles into PyTorch's batches, epoch after epoch") {
    for (const auto& c : golden_cases("dataloader_shuffle")) {
        CAPTURE(c.at("seed"), c.at("num_workers"));
        mini::manual_seed(c.at("seed"));
        DataLoader loader(std::make_shared<Numbers>(c.at("n")),
                          {.batch_size = c.at("batch_size"),
                           .shuffle = true,
                           .num_workers = c.at("num_workers")});
        CHECK(read(loader.epoch()) == c.at("epoch0").get<Batches>());
        CHECK(read(loader.epoch()) == c.at("epoch1").get<Batches>());
    }
}

TEST_CASE("the batches are the sampler's for any number of workers") {
    const int workers = GENERATE(0, 1, 2, 3, 7);
    const int64_t n = GENERATE(0, 1, 5, 64, 1000);
    const bool drop_last = GENERATE(false, true);
    CAPTURE(workers, n, drop_last);
    DataLoader loader(std::make_shared<Numbers>(n), {.batch_size = 4,
                                                     .drop_last = drop_last,
                                                     .num_workers = workers,
                                                     .prefetch_factor = 1});
    const Batches batches = read(loader.epoch());
    REQUIRE(static_cast<int64_t>(batches.size()) == loader.size());
    int64_t expected = 0;
    for (const Indices& batch : batches)
        for (const int64_t i : batch) REQUIRE(i == expected++);
    CHECK(expected == (drop_last ? n / 4 * 4 : n));
}

TEST_CASE("an epoch draws the base seed always and the sampler's seed with shuffle") {
    const auto numbers = std::make_shared<Numbers>(10);
    const auto next_word = [&](DataLoaderOptions options) {
        mini::manual_seed(7);
        DataLoader loader(numbers, std::move(options));
        loader.epoch();
        return mini::default_generator().random();
    };
    mini::Generator expected(7);
    expected.random_int64();
    const uint32_t after_base_seed = mini::Generator(expected).random();
    expected.random_int64();
    const uint32_t after_both = expected.random();

    CHECK(next_word({}) == after_base_seed);
    CHECK(next_word({.num_workers = 2}) == after_base_seed);
    CHECK(next_word({.shuffle = true, .num_workers = 2}) == after_both);
    CHECK(next_word({.sampler = std::make_shared<mini::data::DistributedSampler>(
                         10, mini::data::DistributedSamplerOptions{})}) ==
          after_base_seed);
}

TEST_CASE("a sampler decides the order") {
    const auto sampler = std::make_shared<mini::data::DistributedSampler>(
        11, mini::data::DistributedSamplerOptions{
                .num_replicas = 4, .rank = 3, .shuffle = false});
    DataLoader loader(std::make_shared<Numbers>(11),
                      {.batch_size = 2, .sampler = sampler, .num_workers = 2});
    CHECK(loader.size() == 2);
    CHECK(read(loader.epoch()) == Batches{{3, 7}, {0}});
}

TEST_CASE("workers fetch ahead by workers times factor batches and no further") {
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

    // Before anything is asked for, exactly the window is fetched.
    for (int64_t seen = 0; seen < window; seen = fetched) fetched.wait(seen);
    for (int64_t i = 0; i < n; ++i) {
        handed_out =
            i + 1;  // a batch that next() takes may be replaced before next() returns
        REQUIRE(epoch.next().has_value());
    }
    CHECK(furthest_ahead == window - 1);
    CHECK(fetched == n);
}

TEST_CASE("a slow batch holds its place while later ones are ready") {
    Door first_batch;
    std::atomic<int> others = 0;
    const auto hook = [&](int64_t i) {
        if (i == 0) return first_batch.pass();
        if (++others == 3) first_batch.open();  // batches 1 to 3 come before batch 0
    };
    DataLoader loader(std::make_shared<Hooked>(8, hook), {.num_workers = 2});
    CHECK(read(loader.epoch()) == Batches{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
}

TEST_CASE(
    "an exception comes in the place of its batch, names the sample, and the epoch goes "
    "on") {
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
    CHECK(message_of<mini::Error>([&] { epoch.next(); }) == "sample 5: a bad sample");
    CHECK(epoch.next()->target.to_vector<int64_t>() == Indices{18, 21});
    CHECK_FALSE(epoch.next());
}

TEST_CASE("an epoch left early stops its workers after the batches in their hands") {
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

TEST_CASE("an epoch may be moved, and outlives its loader") {
    std::optional<DataLoader::Epoch> kept;
    {
        DataLoader loader(std::make_shared<Numbers>(5),
                          {.batch_size = 2, .num_workers = 2});
        kept.emplace(loader.epoch());
    }
    CHECK(read(std::move(*kept)) == Batches{{0, 1}, {2, 3}, {4}});
}

TEST_CASE("several epochs of one loader may be read in turns") {
    DataLoader loader(std::make_shared<Numbers>(4), {.batch_size = 2, .num_workers = 1});
    auto a = loader.epoch(), b = loader.epoch();
    for (int i = 0; i < 2; ++i) {
        CHECK(a.next()->size() == 2);
        CHECK(b.next()->size() == 2);
    }
    CHECK_FALSE(a.next());
    CHECK_FALSE(b.next());
}

TEST_CASE("a batch that does not come is a Timeout that names it and its worker") {
    Door door;
    DataLoader loader(std::make_shared<Hooked>(3, [&](int64_t) { door.pass(); }),
                      {.num_workers = 1, .timeout = std::chrono::milliseconds(1)});
    auto epoch = loader.epoch();
    const std::string message = message_of<mini::Timeout>([&] { epoch.next(); });
    door.open();
    CHECK(contains(message, "batch 0 has not come within 1 ms; "));
    std::optional<mini::data::Batch> batch;
    while (!batch) {  // once it comes, the epoch goes on
        try {
            batch = epoch.next();
        } catch (const mini::Timeout&) {
        }
    }
    CHECK(batch->target.to_vector<int64_t>() == Indices{0});
}

TEST_CASE("DataLoader refuses what makes no sense") {
    const auto numbers = std::make_shared<Numbers>(4);
    const auto sampler = std::make_shared<mini::data::SequentialSampler>(4);
    const auto refuse = [&](DataLoaderOptions options) {
        return message_of<UsageError>([&] { DataLoader(numbers, options); });
    };
    CHECK(contains(refuse({.shuffle = true, .sampler = sampler}), "exclude each other"));
    CHECK(contains(refuse({.batch_size = 0}), "batch_size is 0"));
    CHECK(contains(refuse({.num_workers = -1}), "num_workers is -1"));
    CHECK(contains(refuse({.prefetch_factor = 0}), "prefetch_factor is 0"));
    CHECK_THROWS_AS(DataLoader(nullptr, {}), UsageError);
}
