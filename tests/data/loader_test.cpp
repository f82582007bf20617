#include "libmini/data/loader.hpp"

#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "tests/data/loader_support.hpp"
#include "tests/support/catch.hpp"

using mini::UsageError;
using mini::data::Batch;
using mini::data::DataLoader;
using mini::data::DataLoaderOptions;
using mini::data::Example;

namespace {

// A batch sampler that returns a fixed list of batches.
class ListBatchSampler : public mini::data::BatchSource {
  public:
    explicit ListBatchSampler(Batches batches) : batches_(std::move(batches)) {}
    Batches batches() override { return batches_; }
    int64_t size() override { return static_cast<int64_t>(batches_.size()); }
    void set_epoch(int64_t e) override { epoch = e; }

    int64_t epoch = 0;

  private:
    Batches batches_;
};

}  // namespace

TEST_CASE("the batches follow the sampler's order for any number of workers") {
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

TEST_CASE("a sampler decides the order") {
    const auto sampler = std::make_shared<mini::data::DistributedSampler>(
        11, mini::data::DistributedSamplerOptions{
                .num_replicas = 4, .rank = 3, .shuffle = false});
    DataLoader loader(std::make_shared<Numbers>(11),
                      {.batch_size = 2, .sampler = sampler, .num_workers = 2});
    CHECK(loader.size() == 2);
    CHECK(read(loader.epoch()) == Batches{{3, 7}, {0}});
}

TEST_CASE("a batch sampler decides the batches and receives set_epoch") {
    const auto batches =
        std::make_shared<ListBatchSampler>(Batches{{3, 1, 3}, {0}, {2, 2}});
    const int workers = GENERATE(0, 2);
    DataLoader loader(std::make_shared<Numbers>(4),
                      {.batch_sampler = batches, .num_workers = workers});
    CHECK(loader.size() == 3);
    CHECK(read(loader.epoch()) == Batches{{3, 1, 3}, {0}, {2, 2}});
    loader.set_epoch(17);
    CHECK(batches->epoch == 17);
}

TEST_CASE("set_epoch is forwarded to the sampler inside the batch sampler") {
    const auto make = [] {
        return std::make_shared<mini::data::DistributedSampler>(
            20, mini::data::DistributedSamplerOptions{.num_replicas = 2, .rank = 1});
    };
    const auto sampler = make();
    sampler->set_epoch(5);
    const Indices expected = sampler->indices();
    DataLoader loader(std::make_shared<Numbers>(20),
                      {.batch_size = 10, .sampler = make()});
    CHECK(read(loader.epoch()) != Batches{expected});
    loader.set_epoch(5);
    CHECK(read(loader.epoch()) == Batches{expected});
}

TEST_CASE("each range-based for over a loader reads the next epoch") {
    const int workers = GENERATE(0, 2);
    CAPTURE(workers);
    mini::manual_seed(3);
    DataLoader loader(std::make_shared<Numbers>(7),
                      {.batch_size = 3, .shuffle = true, .num_workers = workers});
    std::vector<Batches> epochs(2), expected;
    for (Batches& epoch : epochs)
        for (const Batch& batch : loader) epoch.push_back(indices_of(batch));

    mini::manual_seed(3);
    for (int e = 0; e < 2; ++e) expected.push_back(read(loader.epoch()));
    CHECK(epochs == expected);
    CHECK(epochs[0] != epochs[1]);
}

TEST_CASE(
    "after a break out of a range-based for the epoch continues at the next batch") {
    static_assert(std::input_iterator<DataLoader::Epoch::Iterator>);
    DataLoader loader(std::make_shared<Numbers>(5), {.num_workers = 2});
    auto epoch = loader.epoch();
    Batches seen;
    for (const Batch& batch : epoch) {
        seen.push_back(indices_of(batch));
        if (seen.size() == 2) break;
    }
    for (const auto& [data, target] : epoch) seen.push_back({data.size(0)});
    CHECK(seen == Batches{{0}, {1}, {1}, {1}, {1}});
    CHECK(epoch.begin() == epoch.end());
}

TEST_CASE("a range-based for over a loader throws the error of a sample") {
    const auto hook = [](int64_t i) {
        if (i == 2) throw std::runtime_error("a bad sample");
    };
    const int workers = GENERATE(0, 2);
    DataLoader loader(std::make_shared<Hooked>(5, hook), {.num_workers = workers});
    int batches = 0;
    const std::string message = message_of<mini::Error>([&] {
        for (const Batch& batch : loader) batches += static_cast<int>(batch.size());
    });
    CHECK(batches == 2);
    CHECK(message == "DataLoader: batch 2: sample 2: a bad sample");
}

TEST_CASE("an epoch can be moved and outlives its loader") {
    std::optional<DataLoader::Epoch> kept;
    {
        DataLoader loader(std::make_shared<Numbers>(5),
                          {.batch_size = 2, .num_workers = 2});
        kept.emplace(loader.epoch());
    }
    CHECK(read(std::move(*kept)) == Batches{{0, 1}, {2, 3}, {4}});
}

TEST_CASE("several epochs of one loader can be read alternately") {
    DataLoader loader(std::make_shared<Numbers>(4), {.batch_size = 2, .num_workers = 1});
    auto a = loader.epoch(), b = loader.epoch();
    for (int i = 0; i < 2; ++i) {
        CHECK(a.next()->size() == 2);
        CHECK(b.next()->size() == 2);
    }
    CHECK_FALSE(a.next());
    CHECK_FALSE(b.next());
}

TEST_CASE("a given collate function makes the batches with and without workers") {
    const auto total = [](const std::vector<Example>& examples) {
        int64_t sum = 0;
        for (const Example& example : examples) sum += example.label();
        return Batch{mini::Tensor::zeros({1}),
                     mini::Tensor::from(std::vector<int64_t>{sum})};
    };
    const int workers = GENERATE(0, 2);
    DataLoader loader(std::make_shared<Numbers>(5),
                      {.batch_size = 2, .num_workers = workers, .collate = total});
    CHECK(read(loader.epoch()) == Batches{{1}, {5}, {4}});
}

TEST_CASE(
    "a dataset may be empty or smaller than a batch or than the number of workers") {
    const int workers = GENERATE(0, 1, 4);
    const bool drop_last = GENERATE(false, true);
    CAPTURE(workers, drop_last);
    const auto batches = [&](int64_t n, int64_t batch_size) {
        DataLoader loader(std::make_shared<Numbers>(n), {.batch_size = batch_size,
                                                         .drop_last = drop_last,
                                                         .num_workers = workers,
                                                         .prefetch_factor = 1000});
        const Batches read_batches = read(loader.epoch());
        CHECK(static_cast<int64_t>(read_batches.size()) == loader.size());
        return read_batches;
    };
    CHECK(batches(0, 1).empty());
    CHECK(batches(0, 64).empty());
    CHECK(batches(1, 1) == Batches{{0}});
    CHECK(batches(3, 64) == (drop_last ? Batches{} : Batches{{0, 1, 2}}));
    CHECK(batches(3, INT64_MAX) == (drop_last ? Batches{} : Batches{{0, 1, 2}}));
    CHECK(batches(3, 2) == (drop_last ? Batches{{0, 1}} : Batches{{0, 1}, {2}}));
}

TEST_CASE("DataLoader rejects shuffle for an empty dataset as PyTorch does") {
    const auto empty = std::make_shared<Numbers>(0);
    CHECK(contains(message_of<UsageError>([&] { DataLoader(empty, {.shuffle = true}); }),
                   "the dataset is empty"));
}

TEST_CASE("DataLoader rejects invalid options") {
    const auto numbers = std::make_shared<Numbers>(4);
    const auto sampler = std::make_shared<mini::data::SequentialSampler>(4);
    const auto error_of = [&](DataLoaderOptions options) {
        return message_of<UsageError>([&] { DataLoader(numbers, options); });
    };
    const std::string both = error_of({.shuffle = true, .sampler = sampler});
    CHECK(contains(both, "exclude each other"));
    CHECK(contains(both, "leave shuffle out"));
    CHECK(contains(error_of({.batch_size = 0}), "batch_size is 0"));
    CHECK(contains(error_of({.batch_size = -3}), "batch_size is -3"));
    CHECK(contains(error_of({.num_workers = -1}), "num_workers is -1"));
    CHECK(contains(error_of({.prefetch_factor = 0}), "prefetch_factor is 0"));
    CHECK(contains(error_of({.timeout = std::chrono::milliseconds(0)}), "is 0 but must"));
    CHECK_THROWS_AS(DataLoader(nullptr, {}), UsageError);
}

TEST_CASE("a batch sampler excludes other options and the error names them") {
    const auto numbers = std::make_shared<Numbers>(4);
    const auto sampler = std::make_shared<mini::data::SequentialSampler>(4);
    const auto batches = std::make_shared<ListBatchSampler>(Batches{{0}});
    const auto error_of = [&](DataLoaderOptions options) {
        return message_of<UsageError>([&] { DataLoader(numbers, options); });
    };
    CHECK(contains(error_of({.batch_size = 2, .batch_sampler = batches}),
                   "leave out batch_size = 2, or give"));
    CHECK(
        contains(error_of({.shuffle = true, .batch_sampler = batches}), "out shuffle,"));
    CHECK(contains(error_of({.sampler = sampler, .batch_sampler = batches}),
                   "leave out sampler, or give it to the batch sampler"));
    CHECK(contains(error_of({.drop_last = true, .batch_sampler = batches}),
                   "leave out drop_last,"));
    CHECK(contains(error_of({.batch_size = 9,
                             .sampler = sampler,
                             .drop_last = true,
                             .batch_sampler = batches}),
                   "leave out batch_size = 9, sampler, drop_last,"));
}
