// The checks of lab 15, task 15.6: simple::DDP.

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labs/15-ddp-by-hooks/simple_ddp.hpp"
#include "labs/15-ddp-by-hooks/test_support.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"

using namespace mini;
using namespace mini::lab15;

namespace {

Tensor input_of(const WatchedGroup& group) { return Tensor::full({1}, group.rank() + 1); }

struct Simple {
    Values gradients;
    Journal journal;
};

const Journal kSimplePass{"start all_reduce 4", "start all_reduce 8", "wait all_reduce 4",
                          "wait all_reduce 8"};

// Returns a likely reason for a wrong result of pass `pass`. Starts without waits mean
// that finish() was not called.
std::string reason(const Journal& calls, size_t pass) {
    if (calls.empty()) return "each hook starts an all-reduce";
    if (calls.back().starts_with("wait")) return "wait, then multiply by 1 / ranks";
    if (pass == 0) return "no wait: queue finish(), which waits for each all-reduce";
    return "no wait: finish() must clear in_flight_, or the next pass does not queue it";
}

}  // namespace

TEST_CASE("simple::DDP begins with the parameters and buffers of rank 0",
          "[lab15][lab15.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [](const std::shared_ptr<WatchedGroup>& group) {
        WithState model(group->rank());
        const simple::DDP ddp(model, *group);
        return state_of(model);
    });
    const Values of_rank_0 = state_of(WithState(0));
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        INFO(
            "rank " << rank << " of " << ranks
                    << "; also the frozen parameter, the buffer of floats and the buffer "
                       "of integers are rank 0's");
        REQUIRE(seen[rank] == of_rank_0);
    }
}

TEST_CASE("simple::DDP leaves the mean over the ranks on every rank",
          "[lab15][lab15.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        simple::DDP ddp(model, *group);
        std::vector<Simple> passes;
        for (int pass = 0; pass < 2; ++pass) {
            model.zero_grad();
            group->journal.clear();
            ddp(input_of(*group)).backward();
            passes.push_back({gradients_of(model), group->journal});
        }
        return passes;
    });
    for (int rank = 0; rank < ranks; ++rank)
        for (size_t pass = 0; pass < 2; ++pass) {
            const auto& [mine, calls] = seen[static_cast<size_t>(rank)][pass];
            INFO("rank " << rank << " of " << ranks << ", pass " << pass + 1
                         << "; its gradients were all " << rank + 1
                         << ", their mean over the ranks is " << (ranks + 1) / 2.0);
            INFO("it called: " << in_words(calls) << "; " << reason(calls, pass));
            REQUIRE(mine.size() == 3);
            for (const float got : mine) {
                INFO("a gradient is now " << got << ", " << diagnosis(got, rank, ranks));
                INFO("hint 2 of 15.6 helps");
                REQUIRE(std::abs(got - static_cast<float>(ranks + 1) / 2) < 1e-5f);
            }
        }
}

TEST_CASE("simple::DDP starts an all-reduce in each hook and waits at the end",
          "[lab15][lab15.6]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        simple::DDP ddp(model, *group);
        std::vector<Journal> passes;
        for (int pass = 0; pass < 2; ++pass) {
            group->journal.clear();
            ddp(input_of(*group)).backward();
            passes.push_back(group->journal);
        }
        return passes;
    });
    for (const auto& rank : seen)
        for (const Journal& pass : rank) {
            INFO(
                "b has 4 bytes and its gradient is ready first, a has 8 bytes; one hook "
                "per parameter, so one all-reduce each");
            INFO("the calls were: " << in_words(pass));
            REQUIRE(pass == kSimplePass);
        }
}

TEST_CASE("simple::DDP has no hook on a parameter that does not require grad",
          "[lab15][lab15.6]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithState model(group->rank());
        simple::DDP ddp(model, *group);
        group->journal.clear();
        sum(ddp(Tensor::ones({1, 3}))).backward();
        return group->lines_with("start");
    });
    for (const Journal& starts : seen) {
        INFO("fc.weight and fc.bias are trained, frozen is not; calls: "
             << in_words(starts));
        REQUIRE(starts.size() == 2);
    }
}

TEST_CASE("a module can be wrapped again after its simple::DDP is destroyed",
          "[lab15][lab15.6]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        std::optional<simple::DDP> ddp(std::in_place, model, *group);
        (*ddp)(input_of(*group)).backward();
        for (const bool requires_grad : {false, true}) {
            for (Tensor& parameter : model.parameters())
                parameter.set_requires_grad(requires_grad);
            ddp.reset();  // while the parameters are frozen
        }
        group->journal.clear();
        model(input_of(*group)).backward();
        const Journal without = std::exchange(group->journal, {});
        ddp.emplace(model, *group);
        group->journal.clear();
        (*ddp)(input_of(*group)).backward();
        return std::pair(without, group->journal);
    });
    for (const auto& [without, again] : seen) {
        INFO("without a wrapper, backward called: " << in_words(without)
                                                    << "; remove_hook each hook");
        REQUIRE(without.empty());
        INFO("in the second wrapper it called: " << in_words(again));
        REQUIRE(again == kSimplePass);
    }
}

// ---- no_sync

namespace {

struct SimpleLazy {
    Journal nested, within, after;
    Values gradients;
};

struct LostBatch {};

}  // namespace

TEST_CASE("simple::DDP accumulates within no_sync, and averages after it",
          "[lab15][lab15.6]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        simple::DDP ddp(model, *group);
        const Tensor x = input_of(*group);
        group->journal.clear();
        SimpleLazy mine;
        {
            const auto outer = ddp.no_sync();
            {
                const auto inner = ddp.no_sync();
                ddp(x).backward();
            }
            mine.nested = group->journal;
            ddp(x).backward();
        }
        mine.within = std::exchange(group->journal, {});
        ddp(x).backward();
        mine.after = group->journal;
        mine.gradients = gradients_of(model);
        return mine;
    });
    for (const SimpleLazy& rank : seen) {
        INFO("two nested no_sync; the inner one has one pass, the outer one another");
        INFO("within the inner one: " << in_words(rank.nested));
        REQUIRE(rank.nested.empty());
        INFO("within the outer one: " << in_words(rank.within));
        REQUIRE(rank.within.empty());
        INFO("after both: " << in_words(rank.after));
        REQUIRE(rank.after == kSimplePass);
        INFO("three times 1 on rank 0, three times 2 on rank 1: the mean is 4.5");
        REQUIRE(rank.gradients == Values{4.5f, 4.5f, 4.5f});
    }
}

TEST_CASE("an exception ends the no_sync of simple::DDP", "[lab15][lab15.6]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        TwoWeights model;
        simple::DDP ddp(model, *group);
        try {
            const auto no_sync = ddp.no_sync();
            throw LostBatch();
        } catch (const LostBatch&) {
            // like a program that skips the batch
        }
        ddp(input_of(*group)).backward();
        return gradients_of(model);
    });
    for (const Values& rank : seen) {
        INFO("the pass after the exception should average 1 and 2 to 1.5");
        REQUIRE(rank[0] == 1.5f);
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

Values trained_by_lab_14(dist::ProcessGroup& group) {
    manual_seed(3);
    nn::ConvNet model({.dropout = false});
    train(model, model, group.rank(), [&] {
        for (const Tensor& parameter : model.parameters()) {
            Tensor grad = parameter.grad();
            group.all_reduce(grad);
            ops::mul_(grad, 1.0f / static_cast<float>(group.world_size()));
        }
    });
    return values_of(model.parameters());
}

Values trained_by_hooks(dist::ProcessGroup& group) {
    manual_seed(3 + static_cast<uint64_t>(group.rank()));
    nn::ConvNet model({.dropout = false});
    simple::DDP ddp(model, group);
    train(ddp, model, group.rank(), [] {});
    return values_of(model.parameters());
}

}  // namespace

TEST_CASE("simple::DDP trains the ConvNet to the bits of lab 14", "[lab15][lab15.6]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    std::vector<Values> expected(static_cast<size_t>(ranks)), seen = expected;
    labs::run_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto rank = static_cast<size_t>(group.rank());
        expected[rank] = trained_by_lab_14(group);
        seen[rank] = trained_by_hooks(group);
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        size_t different = 0;
        for (size_t i = 0; i < seen[rank].size(); ++i)
            different += seen[rank][i] == expected[rank][i] ? 0 : 1;
        INFO("rank " << rank << " of " << ranks << " after " << kSteps
                     << " steps: " << different << " of " << seen[rank].size()
                     << " parameters differ from lab 14's");
        INFO(
            "lab 14 sums, then multiplies by the float 1 / world size; the other order, "
            "or a division by the world size, rounds differently on 3 ranks");
        REQUIRE(different == 0);
        REQUIRE(seen[rank].size() == 21840);
    }
}
