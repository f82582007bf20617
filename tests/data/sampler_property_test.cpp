// DistributedSampler for many random (n, replicas, seed, epoch).

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "libmini/data/distributed_sampler.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

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

}  // namespace

TEST_CASE("shards have equal lengths and interleave to the order of a single rank") {
    for (const Case& c : random_cases(500)) {
        CAPTURE(c.n, c.replicas, c.seed, c.epoch, c.shuffle, c.drop_last);
        Case alone = c;
        alone.replicas = 1;
        const Indices order = shards_of(alone).front();
        const std::vector<Indices> shards = shards_of(c);
        const int64_t P = c.replicas;
        const auto length =
            static_cast<size_t>(c.drop_last ? c.n / P : (c.n + P - 1) / P);
        for (size_t r = 0; r < shards.size(); ++r) {
            REQUIRE(shards[r].size() == length);
            for (size_t i = 0; i < length; ++i)
                REQUIRE(shards[r][i] == order[(i * shards.size() + r) % order.size()]);
        }
    }
}
