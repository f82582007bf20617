// The checks of lab 15, task 15.5: no_sync.

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labs/15-ddp-by-hooks/test_support.hpp"
#include "libmini/parallel/averaging_modules.hpp"

using namespace mini;
using namespace mini::lab15;
using parallel::OverlappedModule;

namespace {

Tensor rank_input(const WatchedGroup& group) {
    return Tensor::full({1}, group.rank() + 1);
}

struct Lazy {
    Journal within, after;
    Values gradients;
};

}  // namespace

TEST_CASE("no_sync communicates nothing and the next pass averages the sum",
          "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        const Tensor x = rank_input(*group);  // the gradient: 1 or 2
        group->journal.clear();
        Lazy mine;
        {
            const auto no_sync = replicated.no_sync();
            replicated(x).backward();
            replicated(x).backward();
        }
        mine.within = std::exchange(group->journal, {});
        replicated(x).backward();
        mine.after = group->lines_with("start");
        mine.gradients = gradients_of(model);
        return mine;
    });
    for (const Lazy& rank : seen) {
        INFO("two passes within no_sync called: " << in_words(rank.within));
        REQUIRE(rank.within.empty());
        INFO("the pass after it called: " << in_words(rank.after));
        REQUIRE(rank.after == Journal{"start all_reduce 4", "start all_reduce 8"});
        INFO("three times 1 on rank 0, three times 2 on rank 1: the mean is 4.5");
        REQUIRE(rank.gradients == Values{4.5f, 4.5f, 4.5f});
    }
}

namespace {

struct BadSample {};

}  // namespace

TEST_CASE("an exception within no_sync does not leave averaging disabled",
          "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        try {
            const auto no_sync = replicated.no_sync();
            throw BadSample();
        } catch (const BadSample&) {
            // like a program that skips the batch
        }
        replicated(rank_input(*group)).backward();
        return gradients_of(model);
    });
    for (const Values& rank : seen) {
        INFO("the pass after the exception should average 1 and 2 to 1.5, and left "
             << rank[0]);
        REQUIRE(rank[0] == 1.5f);
    }
}

TEST_CASE("a no_sync within another ends only when the outer no_sync ends",
          "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        group->journal.clear();
        Lazy mine;
        {
            const auto outer = replicated.no_sync();
            {
                const auto inner = replicated.no_sync();
                replicated(rank_input(*group)).backward();
            }
            replicated(rank_input(*group)).backward();
            mine.within = std::exchange(group->journal, {});
        }
        replicated(rank_input(*group)).backward();
        mine.after = group->lines_with("start");
        return mine;
    });
    for (const Lazy& rank : seen) {
        INFO("one pass within both, one within the outer no_sync only; they called: "
             << in_words(rank.within) << "; restore the previous state, not `true`");
        REQUIRE(rank.within.empty());
        INFO("after the outer one has ended, it called: " << in_words(rank.after));
        REQUIRE(rank.after.size() == 2);
    }
}

TEST_CASE("the forward pass decides whether the backward pass averages",
          "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        group->journal.clear();
        Lazy mine;
        const Tensor loss = replicated(rank_input(*group));
        {
            const auto no_sync = replicated.no_sync();
            loss.backward();
        }
        mine.after = group->lines_with("start");
        group->journal.clear();
        std::optional<Tensor> other;
        {
            const auto no_sync = replicated.no_sync();
            other = replicated(rank_input(*group));
        }
        other->backward();
        mine.within = group->lines_with("start");
        return mine;
    });
    for (const Lazy& rank : seen) {
        INFO("forward before no_sync, backward within it: averages; it called "
             << in_words(rank.after));
        REQUIRE(rank.after.size() == 2);
        INFO("forward within no_sync, backward after it: does not average; it called "
             << in_words(rank.within));
        REQUIRE(rank.within.empty());
    }
}

TEST_CASE("two halves with half the loss each train like the whole batch",
          "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        const auto loss_of = [&](float x) { return replicated(Tensor::full({1}, x)); };
        {
            const auto no_sync = replicated.no_sync();
            (loss_of(2) * 0.5f).backward();
        }
        (loss_of(6) * 0.5f).backward();
        return gradients_of(model);
    });
    for (const Values& rank : seen) {
        INFO(
            "the gradients of two micro-batches are 2 and 6 on both ranks; no_sync "
            "sums, so with both losses divided by 2 the gradient is 4; it is "
            << rank[0]);
        REQUIRE(rank == Values{4, 4, 4});
    }
}

TEST_CASE("buffers stay as they are in the forward pass after a no_sync",
          "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithState model(group->rank());
        OverlappedModule replicated(model, group);
        const Tensor x = Tensor::ones({1, 3});
        std::vector<size_t> broadcasts;
        const auto forward = [&] {
            group->journal.clear();
            replicated(x);
            broadcasts.push_back(group->lines_with("start broadcast").size());
        };
        forward();
        {
            const auto no_sync = replicated.no_sync();
            forward();
            forward();
        }
        forward();
        forward();
        return broadcasts;
    });
    for (const auto& broadcasts : seen) {
        INFO(
            "five forward passes; the second and the third are within no_sync. Buffers "
            "(two chunks) are due if the pass before was outside: passes 2 and 5");
        INFO("the broadcasts of the passes were " << concat(broadcasts));
        REQUIRE(broadcasts == std::vector<size_t>{0, 2, 0, 0, 2});
    }
}
