// The checks of lab 09's task 09.4: a training that resumes in the middle of an epoch.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labs/09-distributed-sampler/epoch_position.hpp"
#include "labs/check/names_number.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::labs::Division, mini::labs::EpochPosition, mini::labs::Indices,
    mini::labs::Numbered, mini::labs::batches_per_epoch, mini::labs::go_on,
    mini::labs::position_after, mini::labs::same_place, mini::labs::sorted;

namespace {

// One rank of a restarted job, without any state of the earlier job.
class Restarted {
  public:
    Restarted(const Division& division, int64_t rank)
        : numbered_(std::make_shared<Numbered>(division.samples)),
          loader_(numbered_, {.batch_size = division.batch_size,
                              .sampler = std::make_shared<mini::data::DistributedSampler>(
                                  division.samples,
                                  mini::data::DistributedSamplerOptions{
                                      .num_replicas = static_cast<int>(division.ranks),
                                      .rank = static_cast<int>(rank)})}) {}

    // Returns the batches from `position` to the end of its epoch, by go_on.
    std::vector<Indices> rest(EpochPosition position) {
        std::vector<Indices> batches;
        mini::data::LoaderEpoch epoch = go_on(loader_, position);
        while (const auto batch = epoch.next())
            batches.push_back(batch->target.to_vector<int64_t>());
        return batches;
    }

    // Returns the same batches without go_on: reads the whole epoch, and drops the
    // batches before `position`.
    std::vector<Indices> expected(EpochPosition position) {
        loader_.set_epoch(position.epoch);
        std::vector<Indices> batches;
        for (const mini::data::Batch& batch : loader_)
            batches.push_back(batch.target.to_vector<int64_t>());
        batches.erase(batches.begin(), batches.begin() + position.batch);
        return batches;
    }

    int fetched() const { return numbered_->batches_asked_for; }
    int64_t batches_in_loader() const { return loader_.size(); }

  private:
    std::shared_ptr<Numbered> numbered_;
    mini::data::DataLoader loader_;
};

std::string text(EpochPosition position) {
    return mini::concat("epoch ", position.epoch, ", batch ", position.batch);
}

// Returns the samples of each step, of all ranks together, from `position` to the end of
// its epoch.
std::vector<Indices> steps_of_all(const Division& division, EpochPosition position) {
    std::vector<Indices> steps;
    for (int64_t rank = 0; rank < division.ranks; ++rank) {
        const auto batches = Restarted(division, rank).rest(position);
        steps.resize(std::max(steps.size(), batches.size()));
        for (size_t k = 0; k < batches.size(); ++k)
            steps[k].insert(steps[k].end(), batches[k].begin(), batches[k].end());
    }
    for (Indices& step : steps) step = sorted(step);
    return steps;
}

}  // namespace

TEST_CASE("an epoch has as many batches as a rank's loader", "[lab09][lab09.4]") {
    const int64_t ranks = GENERATE(1, 2, 3, 4, 7), batch_size = GENERATE(1, 2, 3, 5);
    for (const int64_t n : {0, 1, 6, 10, 11, 84}) {
        const Division division = {n, ranks, batch_size};
        const int64_t each = (n + ranks - 1) / ranks;
        const int64_t batches_in_loader = Restarted(division, 0).batches_in_loader();
        INFO(n << " samples on " << ranks << " ranks: each has " << each
               << ", in batches of " << batch_size << "; a short last batch counts");
        REQUIRE(batches_per_epoch(division) == batches_in_loader);
    }
}

TEST_CASE("after an epoch's last batch comes batch 0 of the next epoch",
          "[lab09][lab09.4]") {
    INFO("10 samples on 3 ranks, batches of 3: a rank has 4 samples, in batches of 3");
    INFO("and 1, so an epoch has 2 steps");
    const Division division = {10, 3, 3};
    const std::vector<EpochPosition> expected = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}};
    for (size_t steps = 0; steps < expected.size(); ++steps) {
        const std::string found =
            text(position_after(static_cast<int64_t>(steps), division));
        INFO("after " << steps << " steps");
        REQUIRE(found == text(expected[steps]));
    }
}

TEST_CASE("a job that is stopped anywhere goes on with the batches that come next",
          "[lab09][lab09.4]") {
    const int64_t ranks = GENERATE(1, 2, 3, 4, 7);
    const Division division = {50, ranks, 3};
    for (int64_t steps = 0; steps < 2 * batches_per_epoch(division); ++steps) {
        const EpochPosition position = position_after(steps, division);
        for (int64_t rank = 0; rank < ranks; ++rank) {
            INFO("50 samples, batches of 3: rank "
                 << rank << " of " << ranks << " goes on after " << steps
                 << " steps, in epoch " << position.epoch << " at batch "
                 << position.batch);
            const auto rest = Restarted(division, rank).rest(position);
            const auto expected = Restarted(division, rank).expected(position);
            INFO("the batches of go_on, and those of the epoch without the first ones");
            REQUIRE(rest == expected);
        }
    }
}

TEST_CASE("batches before the position are not fetched again", "[lab09][lab09.4]") {
    Restarted restarted({50, 2, 5}, 1);
    const auto rest = restarted.rest({.epoch = 3, .batch = 4});
    INFO("25 samples of a rank in batches of 5: 0 to 3 are done, and batch 4 is left");
    INFO("fetched: " << restarted.fetched() << " batches");
    CHECK(rest.size() == 1);
    CHECK(restarted.fetched() == 1);
}

TEST_CASE("with another number of ranks the steps have the same samples",
          "[lab09][lab09.4]") {
    const int64_t before = GENERATE(1, 2, 3, 4), after = GENERATE(1, 2, 3, 4);
    const Division was = {84, before, 12 / before}, now = {84, after, 12 / after};
    for (int64_t steps = 7; steps < 14; ++steps) {  // an epoch has 7 steps
        const EpochPosition stopped = position_after(steps, was);
        const EpochPosition position = same_place(stopped, was, now);
        INFO("84 samples, 12 a step; stopped on "
             << before << " ranks before batch " << stopped.batch << ", goes on with "
             << after << " at batch " << position.batch);
        REQUIRE(text(position) == text(stopped));
        CHECK(steps_of_all(now, position) == steps_of_all(was, stopped));
    }
}

TEST_CASE("with another batch size a job goes on after the samples that are used",
          "[lab09][lab09.4]") {
    INFO("2 ranks, batches of 6, stopped before batch 3: 36 samples are used;");
    INFO("3 ranks with batches of 3 use 9 a step, so batch 4 is next");
    const Division was = {84, 2, 6}, now = {84, 3, 3};
    CHECK(text(same_place({.epoch = 5, .batch = 3}, was, now)) == "epoch 5, batch 4");
    CHECK(text(same_place({.epoch = 5, .batch = 4}, now, was)) == "epoch 5, batch 3");
    CHECK(text(same_place({.epoch = 2, .batch = 0}, was, now)) == "epoch 2, batch 0");

    INFO("10 samples on 3 ranks, batches of 3: a step has 9 places, the last one 3");
    CHECK(text(same_place({.epoch = 0, .batch = 1}, {10, 3, 3}, {10, 1, 9})) ==
          "epoch 0, batch 1");

    INFO("what is left of the epoch: 48 samples, and none of the 36 that are used");
    std::vector<Indices> used = steps_of_all(was, {.epoch = 5, .batch = 0});
    used.resize(3);
    Indices all;
    for (const auto& steps : {used, steps_of_all(now, {.epoch = 5, .batch = 4})})
        for (const Indices& step : steps) all.insert(all.end(), step.begin(), step.end());
    CHECK(sorted(all) == mini::labs::all_of(84));
}

TEST_CASE("datasets and trainings may be large", "[lab09][lab09.4]") {
    INFO("16,777,217 samples on one rank, batches of 1");
    CHECK(batches_per_epoch({16777217, 1, 1}) == 16777217);
    INFO("5 billion samples, batches of 1, 6 billion steps");
    const std::string found = text(position_after(6'000'000'000, {5'000'000'000, 1, 1}));
    CHECK(found == "epoch 1, batch 1000000000");
    INFO("16 billion samples, 4 ranks before batch 2 billion; then 2 ranks");
    const Division was = {16'000'000'000, 4, 1}, now = {16'000'000'000, 2, 1};
    CHECK(text(same_place({.epoch = 0, .batch = 2'000'000'000}, was, now)) ==
          "epoch 0, batch 4000000000");
}

TEST_CASE("go_on refuses a batch before the first", "[lab09][lab09.4]") {
    CHECK_THROWS_AS(Restarted({10, 2, 2}, 0).rest({.epoch = 0, .batch = -1}),
                    mini::UsageError);
}

TEST_CASE("where no batch begins the job is refused", "[lab09][lab09.4]") {
    INFO(
        "2 ranks, batches of 6, stopped before batch 2: 24 places are used; 3 ranks "
        "with");
    INFO("batches of 3 use 9 places a step, and begin no batch after 24 places");
    const std::string message = mini::test::message_of<mini::UsageError>([] {
        same_place({.epoch = 0, .batch = 2}, {84, 2, 6}, {84, 3, 3});
    });
    INFO("the error should name 24 and 9; the message: " << message);
    CHECK(mini::labs::names_number(message, 24));
    CHECK(mini::labs::names_number(message, 9));
}
