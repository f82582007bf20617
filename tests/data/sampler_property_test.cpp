// Properties of the distributed samplers, tested for many random (n, replicas, seed,
// epoch).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using mini::data::DistributedEvalSampler;
using mini::data::DistributedSampler;
using Indices = std::vector<int64_t>;

namespace {

struct Case {
    int64_t n;
    int replicas;
    uint64_t seed;
    int64_t epoch;
    bool shuffle;
    bool drop_last;
};

// Random cases with many small and a few large sizes.
std::vector<Case> random_cases(int count) {
    std::mt19937_64 random(20);
    const std::vector<int64_t> largest = {3, 20, 200, 2000};
    std::vector<Case> cases;
    for (int i = 0; i < count; ++i) {
        const int64_t n = static_cast<int64_t>(random() % 2000) % largest[random() % 4];
        cases.push_back({.n = n,
                         .replicas = 1 + static_cast<int>(random() % 13),
                         .seed = random(),
                         .epoch = static_cast<int64_t>(random() % 1000),
                         .shuffle = random() % 4 != 0,
                         .drop_last = random() % 2 == 0});
    }
    return cases;
}

std::vector<Indices> shards_of(const Case& c) {
    std::vector<Indices> shards;
    for (int r = 0; r < c.replicas; ++r) {
        DistributedSampler sampler(c.n, {.num_replicas = c.replicas,
                                         .rank = r,
                                         .shuffle = c.shuffle,
                                         .seed = c.seed,
                                         .drop_last = c.drop_last});
        sampler.set_epoch(c.epoch);
        shards.push_back(sampler.indices());
        REQUIRE(static_cast<int64_t>(shards.back().size()) == sampler.size());
    }
    return shards;
}

// Returns how often each of n samples occurs in the shards; requires valid indices.
Indices occurrences(const std::vector<Indices>& shards, int64_t n) {
    Indices count(static_cast<size_t>(n));
    for (const Indices& shard : shards)
        for (const int64_t index : shard) {
            REQUIRE((index >= 0 && index < n));
            ++count[static_cast<size_t>(index)];
        }
    return count;
}

int64_t how_many(const Indices& values, int64_t value) {
    return std::count(values.begin(), values.end(), value);
}

int64_t total_of(const std::vector<Indices>& shards) {
    int64_t total = 0;
    for (const Indices& shard : shards) total += static_cast<int64_t>(shard.size());
    return total;
}

// Returns whether a model predicts a sample correctly: about three of four samples,
// without a pattern over the ranks.
bool is_right(int64_t sample) { return (sample * 2654435761u >> 7) % 4 != 0; }

// Returns the correct predictions of all ranks divided by all their predictions.
double accuracy(const std::vector<Indices>& shards) {
    int64_t right = 0;
    for (const Indices& shard : shards)
        right += std::count_if(shard.begin(), shard.end(), is_right);
    return static_cast<double>(right) / static_cast<double>(total_of(shards));
}

}  // namespace

TEST_CASE("all shards of an epoch have equal length") {
    for (const Case& c : random_cases(500)) {
        CAPTURE(c.n, c.replicas, c.seed, c.epoch, c.shuffle, c.drop_last);
        const int64_t P = c.replicas;
        const size_t expected =
            static_cast<size_t>(c.drop_last ? c.n / P : (c.n + P - 1) / P);
        for (const Indices& shard : shards_of(c)) REQUIRE(shard.size() == expected);
    }
}

TEST_CASE("padded shards cover all samples and are disjoint except for the padding") {
    for (Case c : random_cases(500)) {
        c.drop_last = false;
        CAPTURE(c.n, c.replicas, c.seed, c.epoch, c.shuffle);
        if (c.n == 0) continue;
        const std::vector<Indices> shards = shards_of(c);
        const Indices count = occurrences(shards, c.n);
        const auto [lowest, highest] = std::minmax_element(count.begin(), count.end());
        REQUIRE(*lowest >= 1);

        // The padding repeats the beginning of the list, or the list several times if the
        // padding is longer.
        const int64_t padding = total_of(shards) - c.n;
        REQUIRE(padding < c.replicas);
        REQUIRE(*highest <= 1 + (padding + c.n - 1) / c.n);
        REQUIRE(how_many(count, *highest) == (padding % c.n == 0 ? c.n : padding % c.n));
    }
}

TEST_CASE("with drop_last shards are disjoint and leave out n mod P samples") {
    for (Case c : random_cases(500)) {
        c.drop_last = true;
        CAPTURE(c.n, c.replicas, c.seed, c.epoch, c.shuffle);
        const Indices count = occurrences(shards_of(c), c.n);
        REQUIRE(how_many(count, 0) == c.n % c.replicas);
        REQUIRE(how_many(count, 1) == c.n - c.n % c.replicas);
    }
}

TEST_CASE("the interleaved shards of all ranks are the order of a single rank") {
    for (const Case& c : random_cases(500)) {
        CAPTURE(c.n, c.replicas, c.seed, c.epoch, c.shuffle, c.drop_last);
        Case alone = c;
        alone.replicas = 1;
        const Indices order = shards_of(alone).front();
        const std::vector<Indices> shards = shards_of(c);
        for (size_t i = 0; i < shards.front().size(); ++i)
            for (size_t r = 0; r < shards.size(); ++r)
                REQUIRE(shards[r][i] == order[(i * shards.size() + r) % order.size()]);
    }
}

TEST_CASE("set_epoch changes the order of all shards of 20 samples or more") {
    int changed = 0;
    for (Case c : random_cases(500)) {
        c.shuffle = true;
        if (c.n / c.replicas < 20) continue;
        CAPTURE(c.n, c.replicas, c.seed, c.epoch, c.drop_last);
        const std::vector<Indices> before = shards_of(c);
        REQUIRE(shards_of(c) == before);
        ++c.epoch;
        const std::vector<Indices> after = shards_of(c);
        for (size_t r = 0; r < before.size(); ++r) REQUIRE(after[r] != before[r]);
        ++changed;
    }
    CHECK(changed > 50);
}

TEST_CASE("exact evaluation gives each sample to exactly one rank") {
    for (const Case& c : random_cases(500)) {
        CAPTURE(c.n, c.replicas);
        std::vector<Indices> shards;
        for (int r = 0; r < c.replicas; ++r) {
            DistributedEvalSampler sampler(c.n, {.num_replicas = c.replicas, .rank = r});
            shards.push_back(sampler.indices());
            REQUIRE(static_cast<int64_t>(shards.back().size()) == sampler.size());
        }
        REQUIRE(how_many(occurrences(shards, c.n), 1) == c.n);
        REQUIRE(shards.front().size() - shards.back().size() <= 1);
    }
}

TEST_CASE("evaluation on 3 ranks is exact without padding and inexact with padding") {
    const int64_t n = 10'000;
    std::vector<Indices> exact, padded;
    for (int r = 0; r < 3; ++r) {
        exact.push_back(
            DistributedEvalSampler(n, {.num_replicas = 3, .rank = r}).indices());
        padded.push_back(
            DistributedSampler(n, {.num_replicas = 3, .rank = r, .shuffle = false})
                .indices());
    }
    const double alone =
        accuracy({DistributedEvalSampler(n, {.num_replicas = 1, .rank = 0}).indices()});
    CHECK(accuracy(exact) == alone);
    CHECK(accuracy(padded) != alone);
    CHECK(total_of(exact) == n);
    CHECK(total_of(padded) == n + 2);
}
