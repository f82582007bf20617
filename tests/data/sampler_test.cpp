#include "libmini/data/sampler.hpp"

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::UsageError;
using mini::data::BatchSampler;
using mini::data::DistributedSampler;
using mini::data::RandomSampler;
using mini::data::SequentialSampler;
using Indices = std::vector<int64_t>;
using Batches = std::vector<Indices>;

TEST_CASE("DistributedSampler gives every rank PyTorch's indices") {
    int64_t checked = 0;
    for (const auto& c : golden_cases("distributed_sampler")) {
        CAPTURE(c.at("n"), c.at("replicas"), c.at("rank"), c.at("shuffle"),
                c.at("epoch"));
        DistributedSampler sampler(c.at("n"), {.num_replicas = c.at("replicas"),
                                               .rank = c.at("rank"),
                                               .shuffle = c.at("shuffle"),
                                               .seed = c.at("seed"),
                                               .drop_last = c.at("drop_last")});
        sampler.set_epoch(c.at("epoch"));
        REQUIRE(sampler.size() == c.at("len").get<int64_t>());
        REQUIRE(digest(sampler.indices()) ==
                c.at("indices").at("sha256_le_int64").get<std::string>());
        ++checked;
    }
    CHECK(checked > 1000);
}

TEST_CASE("DistributedSampler repeats its epoch until set_epoch chooses another") {
    DistributedSampler sampler(100, {.num_replicas = 3, .rank = 1});
    const Indices first = sampler.indices();
    CHECK(sampler.indices() == first);
    sampler.set_epoch(1);
    CHECK(sampler.indices() != first);
    sampler.set_epoch(0);
    CHECK(sampler.indices() == first);
}

TEST_CASE(
    "the ranks of a DistributedSampler cover the dataset, and padding repeats its "
    "front") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(1, 2, 5, 28, 100);
    CAPTURE(ranks, n);
    const Indices whole = DistributedSampler(n, {}).indices();
    for (int r = 0; r < ranks; ++r) {
        DistributedSampler sampler(n, {.num_replicas = ranks, .rank = r});
        const Indices mine = sampler.indices();
        REQUIRE(static_cast<int64_t>(mine.size()) == (n + ranks - 1) / ranks);
        for (size_t i = 0; i < mine.size(); ++i) {
            const size_t position =
                i * static_cast<size_t>(ranks) + static_cast<size_t>(r);
            REQUIRE(mine[i] == whole[position % whole.size()]);
        }
    }
}

TEST_CASE(
    "DistributedSampler has nothing to give of an empty dataset, or with drop_last of "
    "one "
    "smaller than the group") {
    const bool shuffle = GENERATE(false, true);
    for (int r = 0; r < 5; ++r) {
        DistributedSampler empty(0, {.num_replicas = 5, .rank = r, .shuffle = shuffle});
        CHECK(empty.size() == 0);
        CHECK(empty.indices().empty());
        DistributedSampler small(
            4, {.num_replicas = 5, .rank = r, .shuffle = shuffle, .drop_last = true});
        CHECK(small.size() == 0);
        CHECK(small.indices().empty());
    }
}

TEST_CASE("DistributedSampler refuses a rank outside the group, naming both") {
    for (const int rank : {-1, 3, 4}) {
        const std::string message = message_of<UsageError>(
            [&] { DistributedSampler(10, {.num_replicas = 3, .rank = rank}); });
        CHECK(contains(message, "rank " + std::to_string(rank)));
        CHECK(contains(message, "3 replicas"));
    }
    CHECK_THROWS_AS(DistributedSampler(10, {.num_replicas = 0}), UsageError);
    CHECK_THROWS_AS(DistributedSampler(-1, {}), UsageError);
}

TEST_CASE("RandomSampler permutes as PyTorch's does after manual_seed") {
    RandomSampler sampler(10);
    mini::manual_seed(0);
    CHECK(sampler.indices() == Indices{6, 9, 0, 7, 3, 5, 4, 2, 1, 8});
    mini::manual_seed(42);
    CHECK(sampler.indices() == Indices{4, 2, 8, 9, 1, 7, 0, 3, 5, 6});
    CHECK(sampler.indices() != Indices{4, 2, 8, 9, 1, 7, 0, 3, 5, 6});
}

TEST_CASE("RandomSampler draws two words of the default generator for any size") {
    const int64_t n = GENERATE(0, 1, 1000);
    mini::manual_seed(7);
    mini::Generator expected(7);
    expected.random_int64();
    CHECK(static_cast<int64_t>(RandomSampler(n).indices().size()) == n);
    CHECK(mini::default_generator().random() == expected.random());
}

TEST_CASE("SequentialSampler counts up") {
    CHECK(SequentialSampler(0).indices().empty());
    CHECK(SequentialSampler(3).indices() == Indices{0, 1, 2});
    CHECK(SequentialSampler(3).size() == 3);
    CHECK_THROWS_AS(SequentialSampler(-1), UsageError);
    CHECK_THROWS_AS(RandomSampler(-1), UsageError);
}

TEST_CASE("BatchSampler cuts the order into batches and keeps or drops the rest") {
    const auto five = std::make_shared<SequentialSampler>(5);
    BatchSampler keeps(five, 2), drops(five, 2, true), one(five, 100),
        none(five, 100, true);
    CHECK(keeps.batches() == Batches{{0, 1}, {2, 3}, {4}});
    CHECK(keeps.size() == 3);
    CHECK(drops.batches() == Batches{{0, 1}, {2, 3}});
    CHECK(drops.size() == 2);
    CHECK(one.batches() == Batches{{0, 1, 2, 3, 4}});
    CHECK(one.size() == 1);
    CHECK(none.batches().empty());
    CHECK(none.size() == 0);
}

TEST_CASE("BatchSampler says as many batches as it gives, for every size") {
    for (int64_t n = 0; n <= 9; ++n)
        for (int64_t batch_size = 1; batch_size <= 5; ++batch_size)
            for (const bool drop_last : {false, true}) {
                CAPTURE(n, batch_size, drop_last);
                BatchSampler sampler(std::make_shared<SequentialSampler>(n), batch_size,
                                     drop_last);
                REQUIRE(sampler.size() == static_cast<int64_t>(sampler.batches().size()));
            }
}

TEST_CASE("BatchSampler refuses a batch size below 1, and no sampler") {
    const auto five = std::make_shared<SequentialSampler>(5);
    CHECK(contains(message_of<UsageError>([&] { BatchSampler(five, 0); }),
                   "batch_size is 0"));
    CHECK_THROWS_AS(BatchSampler(five, -3), UsageError);
    CHECK_THROWS_AS(BatchSampler(nullptr, 1), UsageError);
    BatchSampler largest(five, INT64_MAX);
    CHECK(largest.batches().size() == 1);
}
