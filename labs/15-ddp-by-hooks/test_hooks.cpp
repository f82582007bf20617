// The checks of lab 15, tasks 15.3 to 15.5: hooks, overlap, and no_sync.

#include <algorithm>
#include <cmath>
#include <cstdint>
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

// ---- 15.3

namespace {

// Writes what GradientListener reports into the group's journal.
class Listening : public parallel::GradientListener {
  public:
    Listening(nn::Module& module, std::shared_ptr<WatchedGroup> group)
        : GradientListener(module, group), watched_(std::move(group)) {
        watched_->journal.clear();
    }

  private:
    void on_gradient(size_t index) override {
        const Tensor& grad = trained()[index].second.grad();
        watched_->journal.push_back(
            concat(grad.defined() ? "gradient " : "no gradient ", index));
    }
    void on_end() override { watched_->journal.emplace_back("end"); }

    std::shared_ptr<WatchedGroup> watched_;
};

const Tensor kX = Tensor::ones({1});
const Journal kOnePass{"gradient 1", "gradient 0", "end"};

// "this pass reported ...".
std::string reported(const Journal& journal) {
    return "backward reported: " + in_words(journal);
}

}  // namespace

TEST_CASE("each pass reports every gradient once and then its end", "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        Listening listening(model, group);
        std::vector<Journal> passes;
        for (int pass = 0; pass < 3; ++pass) {
            group->journal.clear();
            listening(kX).backward();
            passes.push_back(group->journal);
        }
        return passes;
    });
    for (const Journal& pass : seen[0]) {
        INFO("weights a (0) and b (1), used in this order, so b's gradient comes first");
        INFO(reported(pass) << "; queue the end once per pass, at the first gradient");
        INFO("hint 2 of 15.3 helps");
        REQUIRE(pass == kOnePass);
    }
}

TEST_CASE("gradients come in the reverse of the order of their use", "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model(/*reversed=*/true);
        Listening listening(model, group);
        listening(kX).backward();
        return group->journal;
    });
    INFO(
        "weights a (0) and b (1), with b used first, so a's gradient comes first; the "
        "last gradient is not always that of parameter 0");
    INFO(reported(seen[0]));
    REQUIRE(seen[0] == Journal{"gradient 0", "gradient 1", "end"});
}

TEST_CASE("the end comes after the last gradient and before backward returns",
          "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        Listening listening(model, group);
        listening(kX).backward();
        group->journal.emplace_back("backward has returned");
        return group->journal;
    });
    INFO(reported(seen[0]) << "; hint 1 of 15.3 helps");
    REQUIRE(seen[0] ==
            Journal{"gradient 1", "gradient 0", "end", "backward has returned"});
}

TEST_CASE("a backward pass without a forward of the wrapper is not reported",
          "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        Listening listening(model, group);
        model(kX).backward();  // before any forward of the wrapper
        const Journal before = group->journal;
        listening(kX).backward();
        group->journal.clear();
        model(kX).backward();  // after a pass that was averaged
        return std::pair(before, group->journal);
    });
    INFO("model(x), not listening(x): this pass does not average (`averages_`)");
    {
        INFO("before any forward of the wrapper, " << reported(seen[0].first));
        REQUIRE(seen[0].first.empty());
    }
    INFO("after an averaged pass, " << reported(seen[0].second));
    REQUIRE(seen[0].second.empty());
}

TEST_CASE("indices count the trained parameters only", "[lab15][lab15.3]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithState model(group->rank());
        Listening listening(model, group);
        group->journal.clear();
        sum(listening(Tensor::ones({1, 3}))).backward();
        Journal found = group->journal;
        std::ranges::sort(found);
        return found;
    });
    for (const Journal& pass : seen) {
        INFO(
            "parameters frozen, fc.weight, fc.bias; frozen is not trained and has no "
            "hook: fc.weight is 0 and fc.bias is 1");
        INFO("sorted, " << reported(pass));
        REQUIRE(pass == Journal{"end", "gradient 0", "gradient 1"});
    }
}

TEST_CASE("after its wrapper is destroyed a module can be wrapped again",
          "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        std::optional<Listening> listening(std::in_place, model, group);
        (*listening)(kX).backward();
        listening.reset();
        group->journal.clear();
        model(kX).backward();
        const Journal without = group->journal;
        listening.emplace(model, group);
        (*listening)(kX).backward();
        return std::pair(without, group->journal);
    });
    INFO("the destructor removes the hooks whose ids the constructor has kept");
    {
        INFO("without a wrapper, " << reported(seen[0].first));
        REQUIRE(seen[0].first.empty());
    }
    INFO("in the second wrapper, " << reported(seen[0].second));
    REQUIRE(seen[0].second == kOnePass);
}

// ---- 15.4

namespace {

struct Overlapped {
    Values gradients, parameters;
    Journal journal;
    std::vector<Event> events;
};

// `passes` backward passes of TwoWeights; rank r's gradients are r + 1. The journal and the
// events are those of the last pass.
std::vector<Overlapped> overlapped(int ranks, int passes = 1) {
    return on_ranks(ranks, [&](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        for (int pass = 0; pass < passes; ++pass) {
            model.zero_grad();
            group->journal.clear();
            group->events().clear();
            replicated(Tensor::full({1}, group->rank() + 1)).backward();
        }
        return Overlapped{gradients_of(model), values_of(model.parameters()),
                          group->journal, group->events().snapshot()};
    });
}

// "launch 1, launch 0, end of backward, done 0, done 1".
Journal story(const std::vector<Event>& events) {
    Journal told;
    for (const Event& event : events) {
        if (event.kind == EventKind::kBucketLaunch)
            told.push_back(concat("launch ", event.index));
        if (event.kind == EventKind::kBackwardEnd) told.emplace_back("end of backward");
        if (event.kind == EventKind::kBucketDone)
            told.push_back(concat("done ", event.index));
    }
    return told;
}

}  // namespace

TEST_CASE("backward leaves the mean over the ranks on every rank", "[lab15][lab15.4]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int passes = GENERATE(1, 3);
    const auto seen = overlapped(ranks, passes);
    for (int rank = 0; rank < ranks; ++rank) {
        const Overlapped& mine = seen[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " after " << passes
                     << " passes; its gradients were all " << rank + 1
                     << ", their mean over the ranks is " << (ranks + 1) / 2.0);
        REQUIRE(mine.gradients.size() == 3);
        for (const float got : mine.gradients) {
            INFO("a gradient is now " << got << ", " << diagnosis(got, rank, ranks));
            INFO("hint 1 of 15.4 helps");
            REQUIRE(std::abs(got - static_cast<float>(ranks + 1) / 2) < 1e-5f);
        }
        INFO("averaging changes gradients, not parameters");
        REQUIRE(mine.parameters == Values{1, 1, 1});
        INFO("all ranks must have the same bits");
        REQUIRE(mine.gradients == seen[0].gradients);
    }
}

TEST_CASE("all-reduces start in the hooks and are waited for at the end",
          "[lab15][lab15.4]") {
    const int passes = GENERATE(1, 2);
    for (const Overlapped& rank : overlapped(2, passes)) {
        INFO("b has 4 bytes and its gradient is ready first, a has 8 bytes");
        INFO("pass " << passes << " called: " << in_words(rank.journal));
        INFO((rank.journal.size() < 4
                  ? "without its wait in on_end() an all-reduce may still be running"
                  : "a wait in a hook stops backward until all ranks have come there")
             << "; hint 2 of 15.4 helps");
        REQUIRE(rank.journal == Journal{"start all_reduce 4", "start all_reduce 8",
                                        "wait all_reduce 4", "wait all_reduce 8"});
    }
}

TEST_CASE("the event log has all launches before the end, all dones after it",
          "[lab15][lab15.4]") {
    const int passes = GENERATE(1, 2);
    for (const Overlapped& rank : overlapped(2, passes)) {
        INFO("the log of pass " << passes << ": " << in_words(story(rank.events)));
        INFO("call record_done(i) after the i-th wait; in_flight_ is empty afterwards");
        REQUIRE(story(rank.events) ==
                Journal{"launch 1", "launch 0", "end of backward", "done 0", "done 1"});
    }
}

TEST_CASE("division before the sum keeps large gradients from overflowing",
          "[lab15][lab15.4]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        replicated(Tensor::full({1}, 3e38)).backward();
        return gradients_of(model);
    });
    for (const Values& rank : seen) {
        INFO("3e38 on both ranks: 1.5e38 + 1.5e38 fits a float, 3e38 + 3e38 does not");
        INFO("this rank has " << rank[0] << "; hint 1 of 15.4 helps");
        REQUIRE(std::abs(rank[0] - 3e38f) < 1e33f);
    }
}

// ---- 15.5

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
        INFO("two passes within no_sync called: " << in_words(rank.within)
                                                  << "; hint 1 of 15.5 helps");
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
            // like a program that leaves out the batch
        }
        replicated(rank_input(*group)).backward();
        return gradients_of(model);
    });
    for (const Values& rank : seen) {
        INFO("the pass after the exception should average 1 and 2 to 1.5, and left "
             << rank[0] << "; hint 3 of 15.5 helps");
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
