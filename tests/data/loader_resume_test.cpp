// Epochs that start at a later batch, to resume an interrupted training.

#include "libmini/data/loader.hpp"

#include <algorithm>
#include <mutex>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"
#include "tests/data/loader_support.hpp"
#include "tests/support/catch.hpp"

using mini::data::DataLoader;
using mini::data::Example;

namespace {

// Returns sample i + 1000 d for a random d, like a random transform.
class Noisy : public Numbers {
  public:
    using Numbers::Numbers;
    Example get(int64_t i) const override {
        return Numbers::get(i + 1000 * mini::default_generator().randint(0, 1000));
    }
};

}  // namespace

TEST_CASE("an epoch that starts at a later batch is the rest of the whole epoch") {
    const int workers = GENERATE(0, 1, 2, 7);
    const int64_t first = GENERATE(0, 1, 4, 5, 6);
    CAPTURE(workers, first);

    // With workers, random transforms draw the same numbers as in the whole epoch;
    // without workers they do not.
    std::shared_ptr<Numbers> numbers = std::make_shared<Numbers>(18);
    if (workers > 0) numbers = std::make_shared<Noisy>(18);
    DataLoader loader(numbers,
                      {.batch_size = 4, .shuffle = true, .num_workers = workers});
    mini::manual_seed(3);
    Batches rest = read(loader.epoch());
    const uint32_t next = mini::default_generator().random();
    REQUIRE(rest.size() == 5);
    rest.erase(rest.begin(), rest.begin() + std::min<int64_t>(first, 5));

    mini::manual_seed(3);
    CHECK(read(loader.epoch(first)) == rest);
    CHECK(mini::default_generator().random() == next);
}

TEST_CASE("batches before the first requested batch are not fetched") {
    const int workers = GENERATE(0, 2);
    std::mutex mutex;
    Indices fetched;
    DataLoader loader(std::make_shared<Hooked>(10,
                                               [&](int64_t i) {
                                                   const std::lock_guard lock(mutex);
                                                   fetched.push_back(i);
                                               }),
                      {.batch_size = 2, .num_workers = workers});
    CHECK(read(loader.epoch(3)) == Batches{{6, 7}, {8, 9}});
    std::ranges::sort(fetched);
    CHECK(fetched == Indices{6, 7, 8, 9});
}

TEST_CASE("epoch rejects a negative first batch") {
    DataLoader loader(std::make_shared<Numbers>(10), {.batch_size = 2});
    REQUIRE_THROWS_AS(loader.epoch(-1), mini::UsageError);
}
