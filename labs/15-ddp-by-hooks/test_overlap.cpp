// The checks of lab 15, tasks 15.4 and 15.6: overlap, and its bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labs/15-ddp-by-hooks/test_support.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/averaging_modules.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::lab15;
using parallel::OverlappedModule;

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
            REQUIRE(got == about(static_cast<float>(ranks + 1) / 2, 1e-5));
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

TEST_CASE("backward throws the error of an all-reduce", "[lab15][lab15.4]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        OverlappedModule replicated(model, group);
        replicated(Tensor::ones({1})).backward();  // throws here if it is not written
        grad_accumulator(model.a)->add_hook([&model](const Tensor&) {
            Tensor grad = model.b.grad();
            ops::fill_(grad, 7.0f);
        });
        return test::message_of([&] { replicated(Tensor::ones({1})).backward(); });
    });
    for (const std::string& message : seen) {
        INFO("a hook changes b's gradient during its all-reduce, so the wait for it");
        INFO("throws; backward threw: " << message);
        REQUIRE_THAT(message, ContainsSubstring("all_reduce 4"));
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
        replicated(Tensor::ones({1})).backward();
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
        REQUIRE(rank[0] == about(3e38f, 1e33));
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

// ---- 15.6

TEST_CASE("exact: OverlappedModule trains the ConvNet to the bits of a loop",
          "[lab15][lab15.6]") {
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
