#include "libmini/data/loader.hpp"

#include <vector>

#include "libmini/data/distributed_sampler.hpp"
#include "libmini/random/random.hpp"

#include "tests/data/loader_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::data::DataLoader;
using mini::data::DataLoaderOptions;
using mini::data::Example;

namespace {

// Returns sample i; with `augment`, sample 1000 i + d for a random d below 1000, as in
// golden/make_loader.py.
class Drawing : public Numbers {
  public:
    Drawing(int64_t size, bool augment) : Numbers(size), augment_(augment) {}
    Example get(int64_t i) const override {
        if (!augment_) return Numbers::get(i);
        return Numbers::get(1000 * i + mini::default_generator().randint(0, 1000));
    }

  private:
    bool augment_;
};

}  // namespace

TEST_CASE("DataLoader with shuffle returns PyTorch's batches in every epoch") {
    const auto cases = golden_cases("dataloader_shuffle");
    REQUIRE(cases.size() == 4);
    for (const auto& c : cases) {
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

TEST_CASE("DataLoader draws the same numbers from its generator as in PyTorch") {
    const auto cases = golden_cases("loader_generator");
    REQUIRE(cases.size() == 24);
    for (const auto& c : cases) {
        CAPTURE(c.dump());
        mini::manual_seed(c.at("generator").get<bool>() ? 5 : c.at("seed").get<int>());
        DataLoaderOptions options = {.batch_size = c.at("batch_size"),
                                     .shuffle = c.at("shuffle"),
                                     .drop_last = c.at("drop_last"),
                                     .num_workers = c.at("num_workers")};
        if (c.at("generator").get<bool>())
            options.generator = std::make_shared<mini::Generator>(c.at("seed"));
        DataLoader loader(std::make_shared<Drawing>(c.at("n"), c.at("augment")), options);

        for (const auto& epoch : c.at("epochs"))
            REQUIRE(read(loader.epoch()) == epoch.get<Batches>());
        if (options.generator)
            CHECK(options.generator->random_int64() == c.at("generator_next"));
        CHECK(mini::default_generator().random_int64() == c.at("default_next"));
    }
}

TEST_CASE(
    "an epoch always draws the base seed and with shuffle also the sampler's seed") {
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
                         10, mini::data::DistributedSamplerOptions{
                                 .num_replicas = 1, .rank = 0})}) == after_base_seed);
}

TEST_CASE("random transforms are the same for any positive number of workers") {
    const auto epochs = [](int workers, int factor) {
        mini::manual_seed(8);
        DataLoader loader(std::make_shared<Drawing>(50, true),
                          {.batch_size = 3,
                           .shuffle = true,
                           .num_workers = workers,
                           .prefetch_factor = factor});
        return std::vector<Batches>{read(loader.epoch()), read(loader.epoch())};
    };
    const std::vector<Batches> one = epochs(1, 1);
    for (const int workers : {1, 2, 3, 7})
        for (const int factor : {1, 2, 5}) {
            CAPTURE(workers, factor);
            REQUIRE(epochs(workers, factor) == one);
        }
    CHECK(epochs(0, 1) != one);
}

TEST_CASE("a worker seeds batch k with base seed + k and uses the reader's rounding") {
    const auto generator = std::make_shared<mini::Generator>(8);
    const auto base_seed =
        static_cast<uint64_t>(mini::Generator(*generator).random_int64());
    struct Drawn : Numbers {
        using Numbers::Numbers;
        Example get(int64_t) const override {
            return Numbers::get(
                mini::default_generator().randint(0, 1000) * 2 +
                (mini::default_generator().rounding() == mini::Rounding::kSeparate));
        }
    };
    for (const auto rounding : {mini::Rounding::kFused, mini::Rounding::kSeparate}) {
        Batches expected;
        for (uint64_t k = 0; k < 3; ++k)
            expected.push_back({mini::Generator(base_seed + k).randint(0, 1000) * 2 +
                                (rounding == mini::Rounding::kSeparate)});
        mini::default_generator().set_rounding(rounding);
        *generator = mini::Generator(8);
        DataLoader loader(std::make_shared<Drawn>(3),
                          {.num_workers = 2, .generator = generator});
        CHECK(read(loader.epoch()) == expected);
        mini::default_generator().set_rounding(mini::Rounding::kFused);
    }
}

TEST_CASE(
    "epochs have different augmentation and do not draw from the reader's generator") {
    mini::manual_seed(8);
    DataLoader loader(std::make_shared<Drawing>(20, true), {.num_workers = 2});
    const Batches first = read(loader.epoch()), second = read(loader.epoch());
    CHECK(first != second);

    mini::Generator expected(8);
    expected.random_int64();
    expected.random_int64();  // two base seeds
    CHECK(mini::default_generator().random() == expected.random());
}
