// The checks of tasks 08.4 and 08.5: a sampler's order in batches, iterations instead of
// epochs, and batches whose samples are all of one group.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/names_number.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/batch_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/grouped_batch_sampler.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using namespace mini::data;
using mini::Generator, mini::UsageError;
using mini::labs::Indices, mini::labs::all_of, mini::labs::names_number;
using mini::test::message_of;
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
    INFO("10 samples in batches of 4: the last one has 2");
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
    INFO(n << " samples in batches of " << batch_size << ", drop_last " << drop_last);
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

TEST_CASE("a batch may be larger than the dataset, and a batch of 0 is refused",
          "[lab08][lab08.4]") {
    BatchSampler all(list({2, 0, 1}), 5'000'000'000);
    INFO("3 samples in batches of 5 billion: one batch");
    CHECK(all.batches() == Batches{{2, 0, 1}});
    CHECK(all.size() == 1);
    INFO("16,777,217 samples in batches of 1, and 5 billion in batches of 2");
    CHECK(BatchSampler(std::make_shared<SequentialSampler>(16777217), 1).size() ==
          16777217);
    CHECK(BatchSampler(std::make_shared<SequentialSampler>(5'000'000'000), 2).size() ==
          2'500'000'000);
    CHECK_THROWS_AS(BatchSampler(list({0}), 0), UsageError);
    CHECK_THROWS_AS(BatchSampler(nullptr, 1), UsageError);
}

TEST_CASE("each epoch's order is split, and set_epoch reaches the sampler",
          "[lab08][lab08.4]") {
    const auto sampler = std::make_shared<DistributedSampler>(
        8, DistributedSamplerOptions{.num_replicas = 1, .rank = 0});
    BatchSampler batches(sampler, 4);
    for (const int64_t epoch : {1, 0, 2}) {
        batches.set_epoch(epoch);
        const Batches found = batches.batches();
        sampler->set_epoch(epoch);
        const Indices order = sampler->indices();
        INFO("8 samples in batches of 4, epoch " << epoch << ": the halves of its order");
        CHECK(found == Batches{Indices(order.begin(), order.begin() + 4),
                               Indices(order.begin() + 4, order.end())});
    }
}

TEST_CASE("iterations repeat the source until there are enough", "[lab08][lab08.4]") {
    const auto source = std::make_shared<EpochSource>(3);
    const Batches batches = IterationBasedBatchSampler(source, 7).batches();
    INFO("7 iterations of a source of 3 batches: it was read " << source->passes
                                                               << " times");
    CHECK(batches == Batches{{0}, {1}, {2}, {30}, {31}, {32}, {60}});
    INFO(
        "before each pass set_epoch gets the number of the next iteration, not that of "
        "the pass");
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
    IterationBasedBatchSampler batches(std::make_shared<EpochSource>(0), 5, 2);
    const std::string message = message_of<UsageError>([&] { batches.batches(); });
    INFO(
        "each pass returns no batch: an error that names iteration 2, the next one; the");
    INFO("message: " << message);
    CHECK(names_number(message, 2));
}

TEST_CASE("iterations outside of 0 .. num_iterations are refused", "[lab08][lab08.4]") {
    const auto source = std::make_shared<EpochSource>(3);
    INFO("7 iterations: size() is 7, also for a job that begins at iteration 2");
    CHECK(IterationBasedBatchSampler(source, 7, 2).size() == 7);
    CHECK(IterationBasedBatchSampler(source, 1, 0).batches() == Batches{{0}});
    CHECK_THROWS_AS(IterationBasedBatchSampler(source, 7, 8), UsageError);
    CHECK_THROWS_AS(IterationBasedBatchSampler(source, 7, -1), UsageError);
    CHECK_THROWS_AS(IterationBasedBatchSampler(nullptr, 7), UsageError);
}

// ---- 08.5

TEST_CASE("samples of one group share a batch", "[lab08][lab08.5]") {
    const Indices groups = {0, 1, 1, 0, 1, 0, 0};  // 0: wide, 1: high
    INFO("samples 0 .. 6 are wide, high, high, wide, high, wide, wide");
    CHECK(GroupedBatchSampler(list(all_of(7)), groups, 2).batches() ==
          Batches{{0, 3}, {1, 2}, {4}, {5, 6}});
    INFO("with drop_uneven the batch {4} is left out");
    CHECK(GroupedBatchSampler(list(all_of(7)), groups, 2, true).batches() ==
          Batches{{0, 3}, {1, 2}, {5, 6}});
}

TEST_CASE("batches are in the order of their first samples", "[lab08][lab08.5]") {
    const Indices groups = {1, 0, 1, 0};
    INFO("the order 2 1 0 3 begins with group 1: its batch is first, though 0 < 1, and");
    INFO("though the batch of group 0 might be full earlier");
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

TEST_CASE("size() counts the batches that come next, and set_epoch discards them",
          "[lab08][lab08.5]") {
    const auto sampler = list({0, 1, 2, 3, 4});
    GroupedBatchSampler batches(sampler, {0, 1, 0, 1, 0}, 2);
    INFO("5 samples of groups 0 1 0 1 0, batches of 2: {0 2} {1 3} {4}");
    CHECK(batches.size() == 3);
    CHECK(batches.size() == 3);
    CHECK(batches.batches() == Batches{{0, 2}, {1, 3}, {4}});
    INFO("size() has asked the sampler for its order, and batches() uses this order");
    CHECK(sampler->passes == 1);
    CHECK(batches.batches().size() == 3);
    INFO("the next epoch has an order of its own");
    CHECK(sampler->passes == 2);
    batches.size();
    batches.set_epoch(1);
    batches.batches();
    INFO("after set_epoch the order that size() has asked for is of the wrong epoch");
    CHECK(sampler->passes == 4);
    const auto shuffled = std::make_shared<DistributedSampler>(
        8, DistributedSamplerOptions{.num_replicas = 1, .rank = 0});
    GroupedBatchSampler one_group(shuffled, Indices(8, 0), 8);
    one_group.set_epoch(3);
    const Batches found = one_group.batches();
    shuffled->set_epoch(3);
    INFO("set_epoch(3) reaches the sampler: one batch of 8 in the order of epoch 3");
    CHECK(found == Batches{shuffled->indices()});
    INFO("with drop_uneven size() does not count the batch {4}");
    CHECK(GroupedBatchSampler(sampler, {0, 1, 0, 1, 0}, 2, true).size() == 2);
}

TEST_CASE("a sample without a group is an error", "[lab08][lab08.5]") {
    for (const int64_t index : {2, 17, -1}) {
        GroupedBatchSampler batches(list({0, 1, index}), {5, 5}, 2);
        const std::string message = message_of<UsageError>([&] { batches.batches(); });
        INFO("two group_ids, and sample " << index << ": an error that names it; the"
                                          << " message: " << message);
        CHECK(names_number(message, index));
    }
    CHECK_THROWS_AS(GroupedBatchSampler(list({0}), {5}, 0), UsageError);
    CHECK_THROWS_AS(GroupedBatchSampler(nullptr, {5}, 1), UsageError);
}
