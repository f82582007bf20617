#include "libmini/data/distributed_sampler.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <new>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/replica.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::UsageError;
using mini::World;
using mini::data::choose_replica;
using mini::data::DistributedEvalSampler;
using mini::data::DistributedSampler;
using Indices = std::vector<int64_t>;

// This program's operator new counts the allocated bytes, so that a test can measure the
// peak.
namespace {

std::atomic<int64_t> live_bytes, peak_bytes;

// Returns the largest number of bytes that `body` has allocated at one time.
template <typename Body>
int64_t peak_of(const Body& body) {
    const int64_t before = live_bytes;
    peak_bytes = before;
    body();
    return peak_bytes - before;
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
    void* const block = std::malloc(size);
    const int64_t live = live_bytes += static_cast<int64_t>(malloc_usable_size(block));
    for (int64_t peak = peak_bytes; live > peak;)
        if (peak_bytes.compare_exchange_weak(peak, live)) break;
    return block;
}

void* operator new(size_t size) {
    void* const block = operator new(size, std::nothrow);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

[[gnu::noinline]] void operator delete(void* block) noexcept {
    live_bytes -= static_cast<int64_t>(malloc_usable_size(block));
    std::free(block);
}

void operator delete(void* block, size_t /*size*/) noexcept { operator delete(block); }

namespace {

Indices indices_of(int64_t n, mini::data::DistributedSamplerOptions options,
                   int64_t epoch = 0) {
    DistributedSampler sampler(n, options);
    sampler.set_epoch(epoch);
    return sampler.indices();
}

}  // namespace

TEST_CASE("DistributedSampler returns PyTorch's indices on every rank") {
    const nlohmann::json cases = golden_cases("distributed_sampler");
    size_t checked = 0;
    for (const auto& c : cases) {
        CAPTURE(c.at("n"), c.at("replicas"), c.at("rank"), c.at("shuffle"),
                c.at("epoch"));
        DistributedSampler sampler(c.at("n"),
                                   {.num_replicas = c.at("replicas").get<int>(),
                                    .rank = c.at("rank").get<int>(),
                                    .shuffle = c.at("shuffle"),
                                    .seed = c.at("seed"),
                                    .drop_last = c.at("drop_last")});
        sampler.set_epoch(c.at("epoch"));
        REQUIRE(sampler.size() == c.at("len").get<int64_t>());
        REQUIRE(digest(sampler.indices()) ==
                c.at("indices").at("sha256_le_int64").get<std::string>());
        ++checked;
    }
    CHECK(checked == cases.size());
    CHECK(checked == 1409);
}

TEST_CASE("DistributedSampler takes a missing rank or num_replicas from the world") {
    const InWorld world({.rank = 2, .size = 3});
    CHECK(DistributedSampler(10).indices() == Indices{7, 9, 6, 1});
    CHECK(DistributedSampler(Numbers(10)).indices() == Indices{7, 9, 6, 1});
    CHECK(DistributedSampler(10, {.rank = 1}).indices() == Indices{1, 3, 8, 4});
    CHECK(DistributedSampler(10, {.num_replicas = 4}).indices() ==
          indices_of(10, {.num_replicas = 4, .rank = 2}));
    CHECK(DistributedSampler(10, {.num_replicas = 1, .rank = 0}).size() == 10);
    CHECK_THROWS_AS(DistributedSampler(10, {.num_replicas = 2}), UsageError);
    CHECK(DistributedEvalSampler(10).indices() == Indices{2, 5, 8});
    CHECK(DistributedEvalSampler(Numbers(4), {.rank = 0}).indices() == Indices{0, 3});
}

TEST_CASE("without a world the error of distributed samplers names the next step") {
    const std::string neither = message_of<UsageError>([] { DistributedSampler(10); });
    CHECK(contains(neither, "DistributedSampler: num_replicas is not given"));
    CHECK(contains(neither, "call init_process_group"));
    CHECK(contains(neither, "give both"));
    const std::string no_rank =
        message_of<UsageError>([] { DistributedSampler(10, {.num_replicas = 2}); });
    CHECK(contains(no_rank, "rank is not given"));
    CHECK_THROWS_AS(DistributedSampler(10, {.rank = 0}), UsageError);
    CHECK(contains(message_of<UsageError>([] { DistributedEvalSampler(10); }),
                   "DistributedEvalSampler: num_replicas is not given"));
}

TEST_CASE("distributed samplers reject invalid ranks and sizes") {
    for (const int rank : {-1, 3, 4, INT_MIN, INT_MAX}) {
        const std::string message = message_of<UsageError>(
            [&] { DistributedSampler(10, {.num_replicas = 3, .rank = rank}); });
        CHECK(contains(message, "rank " + std::to_string(rank)));
        CHECK(contains(message, "3 replicas"));
        CHECK_THROWS_AS(DistributedEvalSampler(10, {.num_replicas = 3, .rank = rank}),
                        UsageError);
    }
    for (const int replicas : {0, -1, INT_MIN}) {
        CHECK(contains(message_of<UsageError>([&] {
                           DistributedSampler(10, {.num_replicas = replicas, .rank = 0});
                       }),
                       "num_replicas is " + std::to_string(replicas)));
        CHECK_THROWS_AS(DistributedEvalSampler(10, {.num_replicas = replicas, .rank = 0}),
                        UsageError);
    }
    CHECK_THROWS_AS(DistributedSampler(-1, {.num_replicas = 1, .rank = 0}), UsageError);
    CHECK_THROWS_AS(DistributedEvalSampler(-1, {.num_replicas = 1, .rank = 0}),
                    UsageError);
    CHECK(choose_replica("test", 3, 2) == World{.rank = 2, .size = 3});
}

TEST_CASE("DistributedSampler allocates 4 bytes per sample and 8 per index") {
    const int64_t n = 1'000'000;
    const int replicas = GENERATE(1, 2, 3, 8);
    const bool shuffle = GENERATE(false, true);
    CAPTURE(replicas, shuffle);
    DistributedSampler sampler(
        n, {.num_replicas = replicas, .rank = replicas - 1, .shuffle = shuffle});
    const int64_t peak = peak_of([&] { sampler.indices(); });
    const int64_t rounding = 2 * 4096;  // two blocks are rounded up to whole pages
    CHECK(peak <= (shuffle ? 4 * n : 0) + 8 * (n / replicas + 1) + rounding);
    CHECK(peak >= 8 * n / replicas);  // otherwise the counting is wrong
}
