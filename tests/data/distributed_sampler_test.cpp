#include "libmini/data/distributed_sampler.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <new>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
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
    CHECK(checked == cases.size());
    CHECK(checked == 1409);
}

TEST_CASE(
    "DistributedSampler interleaves the ranks and pads from the front or drops the "
    "tail") {
    const std::vector<Indices> epoch0 = {{4, 5, 0, 2}, {1, 3, 8, 4}, {7, 9, 6, 1}};
    const std::vector<Indices> epoch1 = {{5, 2, 9, 4}, {6, 0, 3, 5}, {1, 8, 7, 6}};
    const std::vector<Indices> dropped = {{4, 5, 0}, {1, 3, 8}, {7, 9, 6}};
    for (int r = 0; r < 3; ++r) {
        const auto k = static_cast<size_t>(r);
        CHECK(indices_of(10, {.num_replicas = 3, .rank = r}) == epoch0[k]);
        CHECK(indices_of(10, {.num_replicas = 3, .rank = r}, 1) == epoch1[k]);
        CHECK(indices_of(10, {.num_replicas = 3, .rank = r, .drop_last = true}) ==
              dropped[k]);
    }
    CHECK(indices_of(11, {.num_replicas = 4, .rank = 3, .shuffle = false}) ==
          Indices{3, 7, 0});
}

TEST_CASE("DistributedSampler repeats a dataset smaller than the world") {
    for (int r = 0; r < 5; ++r)
        CHECK(indices_of(2, {.num_replicas = 5, .rank = r}) == Indices{r % 2});
    for (int r = 0; r < 7; ++r)
        CHECK(indices_of(1, {.num_replicas = 7, .rank = r}) == Indices{0});
}

TEST_CASE(
    "DistributedSampler is empty for an empty dataset and if drop_last drops "
    "everything") {
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

TEST_CASE("DistributedSampler repeats its epoch until set_epoch selects another") {
    DistributedSampler sampler(100, {.num_replicas = 3, .rank = 1});
    const Indices first = sampler.indices();
    sampler.set_epoch(1);
    CHECK(sampler.indices() != first);
    sampler.set_epoch(0);
    CHECK(sampler.indices() == first);
    CHECK(indices_of(100, {.num_replicas = 3, .rank = 1, .seed = 1}) ==
          indices_of(100, {.num_replicas = 3, .rank = 1}, 1));
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

TEST_CASE("the size of a DistributedSampler does not overflow") {
    const bool drop_last = GENERATE(false, true);
    const auto size_of = [&](int64_t n, int replicas) {
        return DistributedSampler(
                   n, {.num_replicas = replicas, .rank = 0, .drop_last = drop_last})
            .size();
    };
    const int64_t more = drop_last ? 0 : 1;
    CHECK(size_of(INT64_MAX, 2) == INT64_MAX / 2 + more);
    CHECK(size_of(INT64_MAX, 1) == INT64_MAX);
    CHECK(size_of(3, INT_MAX) == more);
    CHECK(indices_of(3, {.num_replicas = INT_MAX, .rank = 4, .shuffle = false}) ==
          Indices{4 % 3});
}

TEST_CASE("DistributedSampler warns once when an epoch is repeated without set_epoch") {
    DistributedSampler sampler(10, {.num_replicas = 2, .rank = 1});
    const auto next = [&] { sampler.indices(); };
    CHECK(written_to_stderr(next) == "");

    const std::string warning = written_to_stderr(next);
    CHECK(contains(warning, "warning"));
    CHECK(contains(warning, "epoch 0 is given out again"));
    CHECK(contains(warning, "call set_epoch(epoch) before each epoch"));
    CHECK(written_to_stderr(next) == "");
    sampler.set_epoch(1);
    next();
    CHECK(written_to_stderr(next) == "");
}

TEST_CASE("DistributedSampler does not warn if set_epoch is called or shuffle is off") {
    const std::string written = written_to_stderr([] {
        DistributedSampler shuffled(10, {.num_replicas = 2, .rank = 0});
        DistributedSampler in_order(10, {.num_replicas = 2, .rank = 0, .shuffle = false});
        for (int epoch = 0; epoch < 3; ++epoch) {
            shuffled.set_epoch(epoch);
            shuffled.indices();
            in_order.indices();
        }
        shuffled.set_epoch(2);  // the same epoch again, but on purpose
        shuffled.indices();
    });
    CHECK(written == "");
}

TEST_CASE(
    "epoch_generator is seeded with seed + epoch, in the default generator's version") {
    mini::Generator& usual = mini::default_generator();
    const auto before = usual.get_state();
    const mini::TorchVersion version = usual.version();
    usual.set_version({.major = 1, .minor = 13});
    const mini::Generator generator = mini::data::epoch_generator(30, 12);
    usual.set_version(version);
    CHECK(generator.initial_seed() == 42);
    CHECK(generator.version() == mini::TorchVersion{.major = 1, .minor = 13});
    CHECK(usual.get_state() == before);
}

TEST_CASE("DistributedSampler allocates at most 8 bytes per sample of the dataset") {
    const int64_t n = 1'000'000;
    const int replicas = GENERATE(1, 2, 3, 8);
    const bool shuffle = GENERATE(false, true);
    CAPTURE(replicas, shuffle);
    DistributedSampler sampler(
        n, {.num_replicas = replicas, .rank = replicas - 1, .shuffle = shuffle});
    const int64_t peak = peak_of([&] { sampler.indices(); });
    const int64_t rounding = 2 * 4096;  // two blocks are rounded up to whole pages
    CHECK(peak <= 8 * n + rounding);
    CHECK(peak >= 8 * n / replicas);  // otherwise the counting is wrong
    if (!shuffle) CHECK(peak <= 8 * (n / replicas + 1) + rounding);
}

TEST_CASE("DistributedEvalSampler gives rank r every P-th sample starting with r") {
    const auto of = [](int64_t n, int replicas, int rank) {
        DistributedEvalSampler sampler(n, {.num_replicas = replicas, .rank = rank});
        const Indices mine = sampler.indices();
        REQUIRE(sampler.size() == static_cast<int64_t>(mine.size()));
        REQUIRE(sampler.indices() == mine);
        return mine;
    };
    CHECK(of(10, 3, 0) == Indices{0, 3, 6, 9});
    CHECK(of(10, 3, 1) == Indices{1, 4, 7});
    CHECK(of(10, 3, 2) == Indices{2, 5, 8});
    CHECK(of(2, 3, 2).empty());
    CHECK(of(0, 1, 0).empty());
    CHECK(of(1, 7, 0) == Indices{0});
}
