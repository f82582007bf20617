// The checks of tasks 08.4 and 08.5: a sampler's order in batches, iterations instead of
// epochs, and batches whose samples are all of one group.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/batch_sampler.hpp"
#include "libmini/data/grouped_batch_sampler.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

using namespace mini::data;
using mini::Generator, mini::UsageError;
using mini::labs::Indices, mini::labs::all_of;
using Batches = std::vector<Indices>;

namespace {

// A sampler with a fixed order, which counts the calls of indices().
class ListSampler : public Sampler {
  public:
    explicit ListSampler(Indices order) : order_(std::move(order)) {}
    Indices indices() override {
        ++passes;
        return order_;
    }
    int64_t size() const override { return static_cast<int64_t>(order_.size()); }

    int passes = 0;

  private:
    Indices order_;
};

std::shared_ptr<ListSampler> list(Indices order) {
    return std::make_shared<ListSampler>(std::move(order));
}

// Returns batches {10 e}, {10 e + 1}, ..., where e is the epoch that was set.
class EpochSource : public BatchSource {
  public:
    explicit EpochSource(int64_t length) : length_(length) {}
    Batches batches() override {
        ++passes;
        Batches batches;
        for (int64_t k = 0; k < length_; ++k) batches.push_back({10 * epochs.back() + k});
        return batches;
    }
    int64_t size() override { return length_; }
    void set_epoch(int64_t epoch) override { epochs.push_back(epoch); }

    Indices epochs;
    int passes = 0;

  private:
    int64_t length_;
};

// Returns the batches of `order` by the definition in the header: each sample joins the
// first batch of its group that is not full, or else begins a new batch.
Batches grouped(const Indices& order, const Indices& groups, size_t batch_size) {
    Batches batches;
    for (const int64_t index : order) {
        const auto fits = [&](const Indices& batch) {
            return batch.size() < batch_size && groups[static_cast<size_t>(batch[0])] ==
                                                    groups[static_cast<size_t>(index)];
        };
        const auto found = std::ranges::find_if(batches, fits);
        if (found == batches.end())
            batches.push_back({index});
        else
            found->push_back(index);
    }
    return batches;
}

}  // namespace

// ---- 08.4

TEST_CASE("an order is split into batches", "[lab08][lab08.4]") {
    const Indices order = {4, 1, 7, 5, 3, 9, 0, 8, 6, 2};
    INFO("10 samples in batches of 4: the last one has 2; hint 1 of 08.4");
    CHECK(BatchSampler(list(order), 4).batches() ==
          Batches{{4, 1, 7, 5}, {3, 9, 0, 8}, {6, 2}});
    INFO("with drop_last the short batch is left out, but a full last batch is not");
    CHECK(BatchSampler(list(order), 4, true).batches() ==
          Batches{{4, 1, 7, 5}, {3, 9, 0, 8}});
    CHECK(BatchSampler(list(order), 5, true).batches() ==
          Batches{{4, 1, 7, 5, 3}, {9, 0, 8, 6, 2}});
}

TEST_CASE("no sample is lost between two batches", "[lab08][lab08.4]") {
    const int64_t n = GENERATE(0, 1, 5, 8, 64), batch_size = GENERATE(1, 3, 4, 8, 100);
    const bool drop_last = GENERATE(false, true);
    const Batches batches =
        BatchSampler(list(all_of(n)), batch_size, drop_last).batches();
    Indices together;
    for (const Indices& batch : batches) {
        INFO(n << " samples in batches of " << batch_size << ", drop_last " << drop_last);
        CHECK_FALSE(batch.empty());
        if (&batch != &batches.back() || drop_last)
            CHECK(static_cast<int64_t>(batch.size()) == batch_size);
        together.insert(together.end(), batch.begin(), batch.end());
    }
    INFO(n << " samples in batches of " << batch_size << ", drop_last " << drop_last
           << "; hint 2 of 08.4");
    CHECK(together == all_of(drop_last ? n / batch_size * batch_size : n));
}

TEST_CASE("size() is the number of batches and draws no order", "[lab08][lab08.4]") {
    const int64_t n = GENERATE(0, 1, 5, 8, 64), batch_size = GENERATE(1, 3, 4, 8, 100);
    const bool drop_last = GENERATE(false, true);
    const auto sampler = list(all_of(n));
    BatchSampler batches(sampler, batch_size, drop_last);
    const int64_t size = batches.size();
    INFO(n << " samples in batches of " << batch_size << ", drop_last " << drop_last);
    INFO("a call of indices() would draw, and the next epoch would have another order");
    CHECK(sampler->passes == 0);
    CHECK(size == static_cast<int64_t>(batches.batches().size()));
    CHECK(sampler->passes == 1);
}

TEST_CASE("a batch may be larger than any dataset", "[lab08][lab08.4]") {
    BatchSampler all(list({2, 0, 1}), std::numeric_limits<int64_t>::max());
    INFO("batch_size 2^63 - 1: n + batch_size - 1 does not fit into 64 bits; hint 2");
    CHECK(all.batches() == Batches{{2, 0, 1}});
    CHECK(all.size() == 1);
}

TEST_CASE("iterations repeat the source until there are enough", "[lab08][lab08.4]") {
    const auto source = std::make_shared<EpochSource>(3);
    const Batches batches = IterationBasedBatchSampler(source, 7).batches();
    INFO("7 iterations of a source of 3 batches: it was read " << source->passes
                                                               << " times");
    CHECK(batches == Batches{{0}, {1}, {2}, {30}, {31}, {32}, {60}});
    INFO(
        "before each pass set_epoch gets the number of the next iteration, not that of "
        "the pass; hint 3 of 08.4");
    CHECK(source->epochs == Indices{0, 3, 6});
    CHECK(source->passes == 3);
}

TEST_CASE("interrupted iterations go on at start_iter", "[lab08][lab08.4]") {
    const auto source = std::make_shared<EpochSource>(3);
    INFO("iterations 2 .. 6 are 5 batches; the passes begin at iterations 2 and 5");
    CHECK(IterationBasedBatchSampler(source, 7, 2).batches() ==
          Batches{{20}, {21}, {22}, {50}, {51}});
    CHECK(source->epochs == Indices{2, 5});

    const auto unused = std::make_shared<EpochSource>(3);
    INFO("all 7 iterations are done: there is no pass at all");
    CHECK(IterationBasedBatchSampler(unused, 7, 7).batches().empty());
    CHECK(unused->passes == 0);
    INFO("six iterations are exactly two passes, not two and an empty third");
    CHECK(IterationBasedBatchSampler(unused, 6).batches().size() == 6);
    CHECK(unused->passes == 2);
}

TEST_CASE("a source without batches is an error, not an endless loop",
          "[lab08][lab08.4]") {
    IterationBasedBatchSampler batches(std::make_shared<EpochSource>(0), 5);
    INFO("each pass returns no batch: check_not_empty is given; hint 3 of 08.4");
    CHECK_THROWS_AS(batches.batches(), UsageError);
}

// ---- 08.5

TEST_CASE("samples of one group share a batch", "[lab08][lab08.5]") {
    const Indices groups = {0, 1, 1, 0, 1, 0, 0};  // 0: wide, 1: high
    INFO("samples 0 .. 6 are wide, high, high, wide, high, wide, wide; hint 1 of 08.5");
    CHECK(GroupedBatchSampler(list(all_of(7)), groups, 2).batches() ==
          Batches{{0, 3}, {1, 2}, {4}, {5, 6}});
    INFO("with drop_uneven the batch {4} is left out");
    CHECK(GroupedBatchSampler(list(all_of(7)), groups, 2, true).batches() ==
          Batches{{0, 3}, {1, 2}, {5, 6}});
}

TEST_CASE("batches are in the order of their first samples", "[lab08][lab08.5]") {
    const Indices groups = {1, 0, 1, 0};
    INFO("the order 2 1 0 3 begins with group 1: its batch is first, though 0 < 1, and");
    INFO("though the batch of group 0 might be full earlier; hint 2 of 08.5");
    CHECK(GroupedBatchSampler(list({2, 1, 0, 3}), groups, 2).batches() ==
          Batches{{2, 0}, {1, 3}});
    CHECK(GroupedBatchSampler(list({2, 1, 3, 0}), groups, 2).batches() ==
          Batches{{2, 0}, {1, 3}});
}

TEST_CASE("any order and any groups give the batches of the definition",
          "[lab08][lab08.5]") {
    const uint64_t seed = GENERATE(range(0, 20));
    const int64_t batch_size = GENERATE(1, 2, 3, 7);
    Generator generator(seed);
    Indices groups, order;
    for (int i = 0; i < 30; ++i) groups.push_back(generator.randint(-2, 3));
    for (int i = 0; i < 40; ++i) order.push_back(generator.randint(0, 30));
    const Batches expected = grouped(order, groups, static_cast<size_t>(batch_size));
    INFO("40 draws of 30 samples in 5 groups -2 .. 2, some samples twice, batch_size "
         << batch_size << ", seed " << seed);
    CHECK(GroupedBatchSampler(list(order), groups, batch_size).batches() == expected);

    Batches full = expected;
    std::erase_if(full, [&](const Indices& batch) {
        return static_cast<int64_t>(batch.size()) != batch_size;
    });
    INFO("drop_uneven keeps the full batches");
    CHECK(GroupedBatchSampler(list(order), groups, batch_size, true).batches() == full);
}

TEST_CASE("a sample without a group is an error", "[lab08][lab08.5]") {
    GroupedBatchSampler batches(list({0, 1, 2}), {5, 5}, 2);
    INFO("sample 2 has no entry in group_ids: group_of() throws; hint 3 of 08.5");
    CHECK_THROWS_AS(batches.batches(), UsageError);
}
