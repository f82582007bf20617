#include "libmini/data/sampler.hpp"

#include <limits>
#include <numeric>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/data/batch_sampler.hpp"
#include "libmini/random/random.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::Generator;
using mini::UsageError;
using mini::data::BatchSampler;
using mini::data::RandomSampler;
using mini::data::SequentialSampler;
using mini::data::SubsetRandomSampler;
using mini::data::WeightedRandomSampler;
using Indices = std::vector<int64_t>;
using Batches = std::vector<Indices>;
using nlohmann::json;

namespace {

int64_t length_of(const json& list) { return static_cast<int64_t>(list.size()); }

void check_random(const json& c) {
    const bool own = c.at("how") == "generator=g";
    if (!own) REQUIRE(contains(c.at("how"), "generator=None after torch.manual_seed"));
    const json& num_samples = c.at("num_samples");
    mini::manual_seed(c.at("seed"));
    RandomSampler sampler(
        c.at("n"), {.replacement = c.at("replacement"),
                    .num_samples = num_samples.is_null() ? std::optional<int64_t>()
                                                         : num_samples.get<int64_t>(),
                    .generator = own ? seeded(c.at("seed")) : nullptr});
    REQUIRE(sampler.size() == length_of(c.at("indices")));
    REQUIRE(sampler.indices() == c.at("indices").get<Indices>());
    if (!own) REQUIRE(sampler.indices() == c.at("indices2").get<Indices>());
}

void check_subset(const json& c) {
    SubsetRandomSampler sampler(c.at("subset"), seeded(c.at("seed")));
    REQUIRE(sampler.size() == length_of(c.at("subset")));
    REQUIRE(sampler.indices() == c.at("indices").get<Indices>());
}

void check_weighted(const json& c) {
    const auto generator = seeded(c.at("seed"));
    WeightedRandomSampler sampler(c.at("weights"), c.at("num_samples"),
                                  c.at("replacement"), generator);
    REQUIRE(sampler.size() == c.at("num_samples").get<int64_t>());
    REQUIRE(sampler.indices() == c.at("indices").get<Indices>());
}

void check_batch(const json& c) {
    BatchSampler sampler(std::make_shared<SequentialSampler>(c.at("n")),
                         c.at("batch_size"), c.at("drop_last"));
    REQUIRE(sampler.size() == length_of(c.at("batches")));
    REQUIRE(sampler.batches() == c.at("batches").get<Batches>());
}

}  // namespace

TEST_CASE("every sampler returns PyTorch's indices") {
    const json cases = golden_cases("samplers");
    size_t checked = 0;
    for (const json& c : cases) {
        CAPTURE(c.dump());
        const std::string sampler = c.at("sampler");
        if (sampler == "RandomSampler")
            check_random(c);
        else if (sampler == "SubsetRandomSampler")
            check_subset(c);
        else if (sampler == "WeightedRandomSampler")
            check_weighted(c);
        else if (sampler == "BatchSampler(SequentialSampler)")
            check_batch(c);
        else
            FAIL("no test knows a " << sampler);
        ++checked;
    }
    CHECK(checked == cases.size());
    CHECK(checked == 119);
}

TEST_CASE("SequentialSampler counts up") {
    CHECK(SequentialSampler(0).indices().empty());
    CHECK(SequentialSampler(3).indices() == Indices{0, 1, 2});
    CHECK(SequentialSampler(3).size() == 3);
    CHECK_THROWS_AS(SequentialSampler(-1), UsageError);
}

TEST_CASE("RandomSampler permutes as PyTorch's does after manual_seed") {
    RandomSampler sampler(10);
    mini::manual_seed(0);
    CHECK(sampler.indices() == Indices{6, 9, 0, 7, 3, 5, 4, 2, 1, 8});
    mini::manual_seed(42);
    CHECK(sampler.indices() == Indices{4, 2, 8, 9, 1, 7, 0, 3, 5, 6});
    CHECK(sampler.indices() != Indices{4, 2, 8, 9, 1, 7, 0, 3, 5, 6});
}

TEST_CASE("RandomSampler without a generator draws two words of the thread's generator") {
    const int64_t n = GENERATE(1, 2, 1000);
    const bool replacement = GENERATE(false, true);
    mini::manual_seed(7);
    Generator expected(7);
    expected.random_int64();
    RandomSampler sampler(n, {.replacement = replacement, .num_samples = 100});
    CHECK(sampler.indices().size() == 100);
    CHECK(mini::default_generator().random() == expected.random());
}

TEST_CASE("RandomSampler's unused permutation is the second of two drawn in a row") {
    const json cases = golden_cases("randperm_twice");
    size_t checked = 0;
    for (const json& c : cases) {
        // The 2 n - 1 indices are the first permutation, and the second without its last
        // index.
        const int64_t n = c.at("n");
        CAPTURE(c.at("seed"), n);
        const auto both = RandomSampler(n, {.num_samples = 2 * n - 1,
                                            .generator = seeded(c.at("seed"))})
                              .indices();
        const Indices first(both.begin(), both.begin() + n);
        Indices second(both.begin() + n, both.end());
        const int64_t sum = n * (n - 1) / 2;
        second.push_back(sum - std::accumulate(second.begin(), second.end(), int64_t{0}));
        REQUIRE(digest(first) == c.at("first").at("sha256_le_int64").get<std::string>());
        REQUIRE(digest(second) ==
                c.at("second").at("sha256_le_int64").get<std::string>());
        ++checked;
    }
    CHECK(checked == cases.size());
    CHECK(checked == 10);
}

TEST_CASE("samplers that share a generator draw from it in turn") {
    const auto shared = seeded(5);
    const auto with_own = [](int64_t n) {
        return RandomSampler(n, {.generator = seeded(5)}).indices();
    };
    CHECK(RandomSampler(6, {.generator = shared}).indices() == with_own(6));
    CHECK(RandomSampler(6, {.generator = shared}).indices() != with_own(6));
}

TEST_CASE("samplers without a generator draw from the thread's default generator") {
    const Generator stream(9);
    const auto restarted = [&](mini::data::Sampler& sampler) {
        mini::default_generator() = stream;
        return sampler.indices();
    };

    RandomSampler random(20);
    Generator copy = stream;
    Generator own(static_cast<uint64_t>(copy.random_int64()));
    CHECK(restarted(random) == mini::randperm(20, own));

    Indices subset(20);
    std::iota(subset.begin(), subset.end(), 0);
    SubsetRandomSampler some(subset);
    copy = stream;
    CHECK(restarted(some) == mini::randperm(20, copy));

    WeightedRandomSampler weighted({1, 2, 3}, 20);
    WeightedRandomSampler expected({1, 2, 3}, 20, true,
                                   std::make_shared<Generator>(stream));
    CHECK(restarted(weighted) == expected.indices());
}

TEST_CASE("RandomSampler rejects an empty dataset and num_samples below 1") {
    CHECK(contains(message_of<UsageError>([] { RandomSampler(0); }), "dataset is empty"));
    CHECK(contains(message_of<UsageError>([] { RandomSampler(-1); }), "-1 samples"));
    for (const int64_t bad : {int64_t{0}, int64_t{-7}, INT64_MIN}) {
        CHECK(contains(
            message_of<UsageError>([&] { RandomSampler(5, {.num_samples = bad}); }),
            "num_samples is " + std::to_string(bad)));
        CHECK_THROWS_AS(RandomSampler(5, {.replacement = true, .num_samples = bad}),
                        UsageError);
        CHECK_THROWS_AS(WeightedRandomSampler({1.0}, bad), UsageError);
    }
}

TEST_CASE(
    "the constructor of WeightedRandomSampler rejects invalid weights and names them") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    const bool replacement = GENERATE(false, true);
    for (const double bad : {-1.0, -1e-300, nan, inf, -inf}) {
        CAPTURE(bad, replacement);
        CHECK(contains(message_of<UsageError>([&] {
                           WeightedRandomSampler({1, 2, bad, 3}, 1, replacement);
                       }),
                       "weight 2"));
    }
    CHECK_THROWS_AS(WeightedRandomSampler({0, 0}, 1, replacement), UsageError);
    CHECK_THROWS_AS(WeightedRandomSampler({}, 1, replacement), UsageError);
}

TEST_CASE(
    "WeightedRandomSampler without replacement needs num_samples positive weights") {
    CHECK_NOTHROW(WeightedRandomSampler({1, 0, 2}, 2, false));
    CHECK_NOTHROW(WeightedRandomSampler({1, 0, 2}, 3, true));
    CHECK_THROWS_AS(WeightedRandomSampler({1, 0, 2}, 3, false), UsageError);
    CHECK_THROWS_AS(WeightedRandomSampler({1, 0, 2}, INT64_MAX, false), UsageError);
}
