#include "libmini/data/batch_sampler.hpp"

#include <limits>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/world.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/grouped_batch_sampler.hpp"
#include "libmini/data/make_sampler.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using mini::UsageError;
using mini::data::BatchSampler;
using mini::data::BatchSource;
using mini::data::DistributedSampler;
using mini::data::GroupedBatchSampler;
using mini::data::IterationBasedBatchSampler;
using mini::data::make_batch_data_sampler;
using mini::data::make_data_sampler;
using mini::data::RandomSampler;
using mini::data::SequentialSampler;
using Indices = std::vector<int64_t>;
using Batches = std::vector<Indices>;

namespace {

// Returns fixed indices, and records the epochs passed to set_epoch.
struct FixedSampler : mini::data::Sampler {
    explicit FixedSampler(Indices order) : order(std::move(order)) {}
    Indices indices() override { return order; }
    int64_t size() const override { return static_cast<int64_t>(order.size()); }
    void set_epoch(int64_t epoch) override { epochs.push_back(epoch); }

    Indices order;
    Indices epochs;
};

std::shared_ptr<FixedSampler> fixed(Indices indices) {
    return std::make_shared<FixedSampler>(std::move(indices));
}

std::shared_ptr<SequentialSampler> sequential(int64_t n) {
    return std::make_shared<SequentialSampler>(n);
}

// Images of the given heights and widths, one channel.
struct Images : mini::data::Dataset {
    explicit Images(std::vector<std::pair<int64_t, int64_t>> sizes)
        : sizes(std::move(sizes)) {}
    int64_t size() const override { return static_cast<int64_t>(sizes.size()); }
    mini::data::Example get(int64_t i) const override {
        const auto [height, width] = sizes[static_cast<size_t>(i)];
        return {mini::Tensor::zeros({1, height, width}), i};
    }

    std::vector<std::pair<int64_t, int64_t>> sizes;
};

}  // namespace

TEST_CASE("the size of a BatchSampler equals the number of its batches") {
    for (int64_t n = 0; n <= 9; ++n)
        for (const int64_t batch_size :
             {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{9}, INT64_MAX - 1, INT64_MAX})
            for (const bool drop_last : {false, true}) {
                CAPTURE(n, batch_size, drop_last);
                BatchSampler sampler(sequential(n), batch_size, drop_last);
                REQUIRE(sampler.size() == static_cast<int64_t>(sampler.batches().size()));
            }
}

TEST_CASE("BatchSampler rejects a batch size below 1 and a null sampler") {
    const auto five = sequential(5);
    CHECK(contains(message_of<UsageError>([&] { BatchSampler(five, 0); }),
                   "batch_size is 0"));
    CHECK_THROWS_AS(BatchSampler(five, -3), UsageError);
    CHECK_THROWS_AS(BatchSampler(five, INT64_MIN), UsageError);
    CHECK_THROWS_AS(BatchSampler(nullptr, 1), UsageError);
}

TEST_CASE("batch samplers forward set_epoch to their sampler") {
    const auto sampler = fixed({0, 1, 2});
    BatchSampler(sampler, 2).set_epoch(4);
    GroupedBatchSampler(sampler, {0, 0, 0}, 2).set_epoch(5);
    CHECK(sampler->epochs == Indices{4, 5});
}

TEST_CASE("GroupedBatchSampler returns the batches that size has prepared") {
    const auto random = [] {
        return std::make_shared<RandomSampler>(
            50, mini::data::RandomSamplerOptions{.generator = seeded(3)});
    };
    Indices groups(50);
    for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int64_t>(i % 3);
    GroupedBatchSampler counted(random(), groups, 4), uncounted(random(), groups, 4);

    // Two calls of size() prepare the batches once; each epoch is drawn once.
    for (int epoch = 0; epoch < 3; ++epoch) {
        const int64_t count = counted.size();
        REQUIRE(counted.size() == count);
        const Batches batches = counted.batches();
        REQUIRE(static_cast<int64_t>(batches.size()) == count);
        REQUIRE(batches == uncounted.batches());
    }
}

TEST_CASE("GroupedBatchSampler discards the prepared batches when the epoch changes") {
    const auto shuffled = std::make_shared<DistributedSampler>(
        40, mini::data::DistributedSamplerOptions{.num_replicas = 1, .rank = 0});
    GroupedBatchSampler sampler(shuffled, Indices(40), 4);
    sampler.size();
    sampler.set_epoch(1);
    const Batches batches = sampler.batches();
    shuffled->set_epoch(1);
    CHECK(batches == BatchSampler(shuffled, 4).batches());
}

TEST_CASE("GroupedBatchSampler accepts an empty order and batches of any size") {
    CHECK(GroupedBatchSampler(fixed({}), {}, 2).batches().empty());
    CHECK(GroupedBatchSampler(fixed({}), {}, 2).size() == 0);
    GroupedBatchSampler large(fixed({0, 1, 2}), {0, 1, 0}, INT64_MAX);
    CHECK(large.size() == 2);
    CHECK(large.batches() == Batches{{0, 2}, {1}});
    CHECK(GroupedBatchSampler(fixed({0}), {0}, INT64_MAX, true).batches().empty());
}

TEST_CASE("GroupedBatchSampler rejects invalid batch sizes and indices without a group") {
    for (const int64_t bad : {int64_t{0}, int64_t{-1}, INT64_MIN})
        CHECK_THROWS_AS(GroupedBatchSampler(sequential(3), {0, 0, 0}, bad), UsageError);
    CHECK_THROWS_AS(GroupedBatchSampler(nullptr, {}, 1), UsageError);
    const std::string message = message_of<UsageError>([] {
        GroupedBatchSampler(sequential(3), {0, 0}, 1).batches();
    });
    CHECK(contains(message, "index 2"));
    CHECK(contains(message, "2 group_ids"));
    CHECK_THROWS_AS(GroupedBatchSampler(fixed({-1}), {0, 0}, 1).batches(), UsageError);
}

TEST_CASE(
    "IterationBasedBatchSampler rejects an empty source and an invalid start_iter") {
    const auto empty = std::make_shared<BatchSampler>(sequential(0), 2);
    const auto dropped = std::make_shared<BatchSampler>(sequential(3), 4, true);
    CHECK(contains(
        message_of<UsageError>([&] { IterationBasedBatchSampler(empty, 5).batches(); }),
        "no batch at iteration 0 of 5"));
    CHECK_THROWS_AS(IterationBasedBatchSampler(dropped, 5).batches(), UsageError);
    CHECK_THROWS_AS(IterationBasedBatchSampler(empty, -1), UsageError);
    CHECK_THROWS_AS(IterationBasedBatchSampler(empty, 5, 6), UsageError);
    CHECK_THROWS_AS(IterationBasedBatchSampler(empty, 5, -1), UsageError);
    CHECK_THROWS_AS(IterationBasedBatchSampler(nullptr, 5), UsageError);
}

TEST_CASE("make_data_sampler returns a sequential or random or distributed sampler") {
    const Numbers numbers(10);
    CHECK(make_data_sampler(numbers, false, false)->indices() ==
          SequentialSampler(10).indices());
    mini::manual_seed(0);
    CHECK(make_data_sampler(numbers, true, false)->indices() ==
          Indices{6, 9, 0, 7, 3, 5, 4, 2, 1, 8});

    CHECK(
        contains(message_of<UsageError>([&] { make_data_sampler(numbers, true, true); }),
                 "init_process_group"));
    const InWorld world({.rank = 1, .size = 3});
    CHECK(make_data_sampler(numbers, true, true)->indices() == Indices{1, 3, 8, 4});
    CHECK(make_data_sampler(numbers, false, true)->indices() == Indices{1, 4, 7, 0});
}

TEST_CASE("make_batch_data_sampler groups wide and high images and counts iterations") {
    // Height / width: 1/2, 2, 1, 3, 1/3; a ratio of 1 belongs to the group above
    // border 1.
    const Images images({{1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 3}});
    const auto batches = [&](const mini::data::BatchDataSamplerOptions& options) {
        return make_batch_data_sampler(images, sequential(5), options)->batches();
    };
    CHECK(batches({.images_per_gpu = 2}) == Batches{{0, 1}, {2, 3}, {4}});
    CHECK(batches({.aspect_grouping = {1}, .images_per_gpu = 2}) ==
          Batches{{0, 4}, {1, 2}, {3}});
    CHECK(batches({.aspect_grouping = {2.5, 1}, .images_per_gpu = 2}) ==
          Batches{{0, 4}, {1, 2}, {3}});
    CHECK(batches({.aspect_grouping = {1}, .images_per_gpu = 2, .num_iters = 4}) ==
          Batches{{0, 4}, {1, 2}, {3}, {0, 4}});
    CHECK(batches({.images_per_gpu = 2, .num_iters = 4, .start_iter = 3}) ==
          Batches{{0, 1}});
    // A border at each ratio separates all images.
    CHECK(batches({.aspect_grouping = {0.5, 2, 1, 3}, .images_per_gpu = 2}) ==
          Batches{{0}, {1}, {2}, {3}, {4}});
}

TEST_CASE("make_batch_data_sampler rejects invalid ratios and borders and options") {
    const Images images({{1, 2}, {2, 1}});
    const auto error_of = [&](const mini::data::BatchDataSamplerOptions& options) {
        return message_of<UsageError>(
            [&] { make_batch_data_sampler(images, sequential(2), options); });
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(contains(error_of({.aspect_grouping = {nan}}), "border 0 is nan"));
    CHECK(contains(error_of({.images_per_gpu = 0}), "batch_size is 0"));
    CHECK(contains(error_of({.num_iters = 3, .start_iter = 4}), "start_iter is 4"));
    CHECK(contains(message_of<mini::ShapeError>([] {
                       make_batch_data_sampler(Numbers(2), sequential(2),
                                               {.aspect_grouping = {1}});
                   }),
                   "sample 0 is (2,)"));
}
