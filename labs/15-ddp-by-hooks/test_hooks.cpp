// The checks of lab 15, task 15.3: hooks.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labs/15-ddp-by-hooks/test_support.hpp"
#include "libmini/parallel/averaging_modules.hpp"

using namespace mini;
using namespace mini::lab15;

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

// A weight (0) that the loss does not use, and TwoWeights, with a (1) and b (2).
class WithSpare : public nn::Module {
  public:
    WithSpare() {
        register_parameter("spare", spare);
        register_module("used", used);
    }
    Tensor forward(const Tensor& x) override { return used(x); }

    Tensor spare = Tensor::ones({1});
    TwoWeights used;
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
        group->events().clear();
        AfterAnError mine{message_of(loss), group->journal};
        for (const Event& event : group->events().snapshot())
            if (event.kind == EventKind::kBackwardEnd)
                mine.journal.emplace_back("kBackwardEnd");
        return mine;
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
        INFO("without on_end(), " << reported(seen[rank].journal)
                                  << "; the event kBackwardEnd comes before the error");
        CHECK(seen[rank].journal == Journal{"gradient 2", "gradient 1", "kBackwardEnd"});
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
    REQUIRE(seen[0].second == Journal{"gradient 2", "gradient 1", "end"});
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
