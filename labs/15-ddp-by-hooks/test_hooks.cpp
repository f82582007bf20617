// The checks of lab 15, tasks 15.3 and 15.4: hooks and overlap.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labs/15-ddp-by-hooks/test_support.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/averaging_modules.hpp"

using namespace mini;
using namespace mini::lab15;
using parallel::OverlappedModule;

// ---- 15.3

namespace {

// Writes each call by GradientListener into the group's journal.
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

// Returns "backward reported: gradient 1, gradient 0, end".
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
    for (size_t pass = 0; pass < seen[0].size(); ++pass) {
        INFO("weights a (0) and b (1), used in this order, so b's gradient comes first");
        INFO("in pass " << pass + 1 << " of " << seen[0].size() << ", "
                        << reported(seen[0][pass])
                        << "; queue the end once per pass, at the first gradient");
        REQUIRE(seen[0][pass] == kOnePass);
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
    INFO(reported(seen[0]));
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
        REQUIRE(seen[0].first == Journal{});
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
        REQUIRE(seen[0].first == Journal{});
    }
    INFO("in the second wrapper, " << reported(seen[0].second));
    REQUIRE(seen[0].second == kOnePass);
}

namespace {

// TwoWeights, and a weight that the loss does not use.
class WithSpare : public TwoWeights {
  public:
    WithSpare() { register_parameter("spare", spare); }
    Tensor spare = Tensor::ones({1});
};

struct AfterAnError {
    std::optional<std::string> message;  // of the Error, if there was one
    Journal journal;
};

// Calls backward(), and returns the message of its Error, if it throws one.
std::optional<std::string> message_of(const Tensor& loss) {
    try {
        loss.backward();
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
    return std::nullopt;
}

struct FromAHook {};

}  // namespace

TEST_CASE("a parameter without a gradient is an error that names it",
          "[lab15][lab15.3]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithSpare model;
        Listening listening(model, group);
        const Tensor loss = listening(kX);
        group->journal.clear();
        return AfterAnError{message_of(loss), group->journal};
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        const std::optional<std::string>& message = seen[rank].message;
        INFO(
            "the loss does not use the weight spare, whose grad() is undefined at the "
            "end");
        INFO("on rank " << rank << " backward() "
                        << (message ? "threw: " + *message : "threw no Error"));
        const bool threw = message.has_value();
        REQUIRE(threw);
        const bool names_the_parameter = message->find("spare") != std::string::npos;
        CHECK(names_the_parameter);
        const bool names_the_rank =
            message->find(std::to_string(rank)) != std::string::npos;
        CHECK(names_the_rank);
        INFO("without on_end(), " << reported(seen[rank].journal));
        CHECK(seen[rank].journal == Journal{"gradient 1", "gradient 0"});
    }
}

TEST_CASE("after the error of a missing gradient only a new forward averages",
          "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        WithSpare model;
        Listening listening(model, group);
        message_of(listening(kX));
        group->journal.clear();
        model(kX).backward();
        const Journal without = group->journal;
        model.spare.set_grad(Tensor::ones({1}));
        group->journal.clear();
        listening(kX).backward();
        return std::pair(without, group->journal);
    });
    INFO("the pass before has thrown, since the weight spare had no gradient");
    {
        INFO("model(x), not listening(x): this pass does not average; "
             << reported(seen[0].first));
        REQUIRE(seen[0].first == Journal{});
    }
    INFO("then listening(x), and spare has a gradient: " << reported(seen[0].second));
    REQUIRE(seen[0].second == kOnePass);
}

TEST_CASE("after a hook that threw the next pass is reported up to its end",
          "[lab15][lab15.3]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        Listening listening(model, group);
        bool fails = true;
        grad_accumulator(model.a)->add_hook([&fails](const Tensor&) {
            if (std::exchange(fails, false)) throw FromAHook();
        });
        try {
            listening(kX).backward();
        } catch (const FromAHook&) {
            // like a program that goes on with the next batch
        }
        group->journal.clear();
        listening(kX).backward();
        return group->journal;
    });
    INFO(
        "the pass before has thrown after its first gradient and never came to its end;");
    INFO("the next forward() starts a new pass. In it, " << reported(seen[0]));
    REQUIRE(seen[0] == kOnePass);
}

namespace {

struct AtTheEnd {
    Values gradients;
    Journal starts;
};

// Runs two passes of a module whose all-reduces come at the end of the pass.
template <typename Module>
std::vector<AtTheEnd> averaged_at_the_end() {
    return on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithState model(group->rank());
        Module replicated(model, group);
        for (int pass = 0; pass < 2; ++pass) {
            model.zero_grad();
            const Tensor loss = sum(replicated(Tensor::full({1, 3}, group->rank() + 1)));
            group->journal.clear();
            loss.backward();
        }
        return AtTheEnd{gradients_of(model), group->journal};
    });
}

}  // namespace

TEST_CASE("the other modules average at the end, one by one or all together",
          "[lab15][lab15.3]") {
    const auto one_by_one = averaged_at_the_end<parallel::AveragedModule>();
    const auto together = averaged_at_the_end<parallel::FlatModule>();
    // The weight's six gradients are the inputs, 1 and 2; the bias's two are 1; frozen
    // has none.
    const Values expected{0, 0, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1, 1};
    for (size_t rank = 0; rank < 2; ++rank) {
        const auto all_reduces = [](const Journal& journal) {
            return std::ranges::count_if(journal, [](const std::string& line) {
                return line.find("all_reduce") != std::string::npos &&
                       !line.starts_with("wait");
            });
        };
        INFO("AveragedModule called: " << in_words(one_by_one[rank].starts));
        CHECK(one_by_one[rank].gradients == expected);
        CHECK(all_reduces(one_by_one[rank].starts) == 2);
        INFO("FlatModule called: " << in_words(together[rank].starts));
        CHECK(together[rank].gradients == expected);
        CHECK(all_reduces(together[rank].starts) == 1);
    }
}

// ---- 15.4

namespace {

struct Overlapped {
    Values gradients, parameters;
    Journal journal;
    std::vector<Event> events;
};

// Runs `passes` backward passes of TwoWeights, in which rank r's gradients are r + 1.
// Returns the journal and the events of the last pass.
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

// Returns why the journal of a pass is not that of two sums, started in the hooks and
// waited for at the end.
std::string cause(const Journal& journal) {
    const auto has = [&](const std::string& word) {
        return std::ranges::any_of(journal, [&](const std::string& line) {
            return line.find(word) != std::string::npos;
        });
    };
    if (has("all_reduce avg"))
        return "the operation is a sum (kSum): the gradient is multiplied before it";
    if (journal.size() < 4)
        return "without its wait in on_end() an all-reduce may still be running";
    return "a wait in a hook stops backward until all ranks have come there";
}

// Returns the events in words: "launch 1", "launch 0", "end of backward", "done 0", ...
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
        INFO(cause(rank.journal));
        REQUIRE(rank.journal == Journal{"start all_reduce 4", "start all_reduce 8",
                                        "wait all_reduce 4", "wait all_reduce 8"});
    }
}

TEST_CASE("the event log has all launches before the end, all dones after it",
          "[lab15][lab15.4]") {
    const int passes = GENERATE(1, 2);
    for (const Overlapped& rank : overlapped(2, passes)) {
        INFO("the log of pass " << passes << ": " << in_words(story(rank.events)));
        INFO("on_end() records kBucketDone, with the number of the launch in this pass;");
        INFO("it leaves no Work of this pass for the next one");
        REQUIRE(story(rank.events) ==
                Journal{"launch 1", "launch 0", "end of backward", "done 0", "done 1"});
    }
}

TEST_CASE("each done is recorded right after its own wait", "[lab15][lab15.4]") {
    for (const Overlapped& rank : overlapped(2)) {
        Journal order;  // the all-reduces of this group run within their waits
        for (const Event& event : rank.events) {
            if (event.kind == EventKind::kCollectiveEnd)
                order.emplace_back("an all-reduce has ended");
            if (event.kind == EventKind::kBucketDone)
                order.push_back(concat("done ", event.index));
        }
        INFO("a completion is recorded before the next wait, so that its time is right");
        INFO("the log: " << in_words(order));
        REQUIRE(order == Journal{"an all-reduce has ended", "done 0",
                                 "an all-reduce has ended", "done 1"});
    }
}

TEST_CASE("the gradient itself is averaged, not a new tensor", "[lab15][lab15.4]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        std::vector<Tensor> held;
        grad_accumulator(model.b)->add_hook(
            [&held](const Tensor& leaf) { held.push_back(leaf.grad()); });
        OverlappedModule replicated(model, group);
        replicated(Tensor::full({1}, group->rank() + 1)).backward();
        held.push_back(model.b.grad());
        return values_of(held);
    });
    for (const Values& rank : seen) {
        INFO("b.grad() is " << rank[1]
                            << " after backward(). A tensor that was b.grad()");
        INFO("when the hook was called is now " << rank[0] << ": change it in place,");
        INFO("because others may refer to it");
        REQUIRE(rank[0] == rank[1]);
    }
}

TEST_CASE("the first all-reduce has started when the last gradient comes",
          "[lab15][lab15.4]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        Journal before_the_last;
        grad_accumulator(model.a)->add_hook(
            [&](const Tensor&) { before_the_last = group->journal; });
        OverlappedModule replicated(model, group);
        group->journal.clear();
        replicated(kX).backward();
        return before_the_last;
    });
    for (const Journal& journal : seen) {
        INFO("a's gradient is the last. When it comes, the group has seen only");
        INFO("\"start all_reduce 4\", that of b; it has seen: " << in_words(journal));
        REQUIRE(journal == Journal{"start all_reduce 4"});
    }
}

TEST_CASE("the log has the bytes of each gradient that is launched", "[lab15][lab15.4]") {
    for (const Overlapped& rank : overlapped(1)) {
        std::vector<int64_t> bytes;
        for (const Event& event : rank.events)
            if (event.kind == EventKind::kBucketLaunch) bytes.push_back(event.bytes);
        INFO("b has 4 bytes, a has 8");
        REQUIRE(bytes == std::vector<int64_t>{4, 8});
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
        INFO("this rank has " << rank[0]);
        REQUIRE(std::abs(rank[0] - 3e38f) < 1e33f);
    }
}

// ---- the ConvNet

namespace {

constexpr int64_t kDigits = 8;  // of each rank in a step
constexpr int kSteps = 3;

struct Batch {
    Tensor images, labels;
};

Batch batch_of(const data::Dataset& digits, int rank, int step) {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < kDigits; ++i)
        indices.push_back((step * 7 + rank) * kDigits + i);
    const data::Batch batch = digits.get_batch(indices);
    return {batch.data, batch.target};
}

// Trains the ConvNet; `after_backward` averages the gradients if `network` does not.
template <typename AfterBackward>
void train(nn::Module& network, nn::Module& model, int rank,
           const AfterBackward& after_backward) {
    static const auto digits = data::make_digits(true, 7 * kDigits * kSteps);
    optim::SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.5});
    for (int step = 0; step < kSteps; ++step) {
        const Batch batch = batch_of(*digits, rank, step);
        optimizer.zero_grad();
        cross_entropy(network(batch.images), batch.labels).backward();
        after_backward();
        optimizer.step();
    }
}

Values trained_by_a_loop(dist::ProcessGroup& group) {
    manual_seed(3);
    nn::ConvNet model({.dropout = false});
    train(model, model, group.rank(), [&] {
        for (const Tensor& parameter : model.parameters()) {
            Tensor grad = parameter.grad();
            ops::mul_(grad, 1.0f / static_cast<float>(group.world_size()));
            group.all_reduce(grad);
        }
    });
    return values_of(model.parameters());
}

Values trained_by_hooks(dist::ProcessGroup& group) {
    manual_seed(3 + static_cast<uint64_t>(group.rank()));
    nn::ConvNet model({.dropout = false});
    parallel::OverlappedModule ddp(model);
    train(ddp, model, group.rank(), [] {});
    return values_of(model.parameters());
}

// Returns how many values differ, of two lists of the same length.
size_t differences(const Values& a, const Values& b) {
    size_t count = 0;
    for (size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
    return count;
}

struct Trained {
    std::vector<Values> by_a_loop, by_hooks;  // the parameters of each rank
};

Trained trained_both_ways(int ranks) {
    std::vector<Values> none(static_cast<size_t>(ranks));
    Trained trained{none, none};
    labs::run_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto rank = static_cast<size_t>(group.rank());
        trained.by_a_loop[rank] = trained_by_a_loop(group);
        trained.by_hooks[rank] = trained_by_hooks(group);
    });
    return trained;
}

}  // namespace

TEST_CASE("OverlappedModule trains the ConvNet like a loop", "[lab15][lab15.4]") {
    const int ranks = GENERATE(1, 2, 3);
    const auto [expected, seen] = trained_both_ways(ranks);
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        REQUIRE(seen[rank].size() == 21840);
        float worst = 0;
        for (size_t i = 0; i < seen[rank].size(); ++i)
            worst = std::max(worst, std::abs(seen[rank][i] - expected[rank][i]));
        INFO("rank " << rank << " of " << ranks << " after " << kSteps << " steps: the");
        INFO("largest difference to a loop that averages after backward is " << worst);
        CHECK(worst < 1e-5f);
        const size_t different = differences(seen[rank], seen[0]);
        INFO("all ranks must have the same bits; " << different << " of "
                                                   << seen[rank].size()
                                                   << " parameters differ from rank 0's");
        CHECK(different == 0);
    }
}

TEST_CASE("OverlappedModule trains the ConvNet to the bits of a loop",
          "[lab15][lab15.4]") {
    const int ranks = GENERATE(2, 3);
    const auto [expected, seen] = trained_both_ways(ranks);
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const size_t different = differences(seen[rank], expected[rank]);
        INFO("rank " << rank << " of " << ranks << " after " << kSteps
                     << " steps: " << different << " of " << seen[rank].size()
                     << " parameters differ from those of a loop that multiplies each "
                        "gradient by the float 1 / world size, then sums");
        REQUIRE(different == 0);
        REQUIRE(seen[rank].size() == 21840);
    }
}
