// The three averaging modules that precede DDP compute the same gradients as DDP, with
// other numbers of all-reduces and without or with overlap.

#include "libmini/parallel/averaging_modules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/parallel/average_gradients.hpp"
#include "libmini/parallel/average_parameters.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/parallel/wrappers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

struct Seen {
    std::vector<float> gradients;
    size_t collectives = 0;
    bool overlaps = false;  // an all-reduce began before the last gradient was ready
};

Seen train(dist::ProcessGroup& group, Wrapper wrapper) {
    manual_seed(1 + static_cast<uint64_t>(group.rank()));
    Toy module;
    const auto replicated = wrap(wrapper, module);
    size_t gradients = 0;
    size_t begun_before_last = 0;
    for (const Tensor& parameter : module.parameters())
        grad_accumulator(parameter)->add_hook([&](const Tensor&) {
            if (++gradients == 4)
                begun_before_last =
                    group.events().snapshot(EventKind::kBucketLaunch).size();
        });
    group.events().clear();
    sum((*replicated)(draw({4, 3}, static_cast<uint64_t>(group.rank())))).backward();
    return {flat_gradients(module),
            group.events().snapshot(EventKind::kCollectiveBegin).size(),
            begun_before_last > 1};
}

}  // namespace

TEST_CASE("every averaging module computes the average on all ranks") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    const auto ddp = on_ranks(
        ranks, [](dist::ProcessGroup& group) { return train(group, Wrapper::kDDP); });
    for (const Wrapper wrapper :
         {Wrapper::kAveraged, Wrapper::kFlat, Wrapper::kOverlapped}) {
        const auto seen = on_ranks(
            ranks, [&](dist::ProcessGroup& group) { return train(group, wrapper); });
        for (const Seen& rank : seen) {
            CHECK(rank.gradients == seen[0].gradients);
            for (size_t i = 0; i < rank.gradients.size(); ++i)
                CHECK(std::abs(rank.gradients[i] - ddp[0].gradients[i]) < 1e-6f);
        }
    }
}

TEST_CASE(
    "the averaging modules differ in how many all-reduces they run and when these "
    "start") {
    const auto of = [](Wrapper wrapper) {
        return on_ranks(
            2, [&](dist::ProcessGroup& group) { return train(group, wrapper); })[1];
    };
    CHECK(of(Wrapper::kAveraged).collectives == 4);
    CHECK(of(Wrapper::kFlat).collectives == 1);
    CHECK(of(Wrapper::kOverlapped).collectives == 4);
    CHECK_FALSE(of(Wrapper::kAveraged).overlaps);
    CHECK_FALSE(of(Wrapper::kFlat).overlaps);
    CHECK(of(Wrapper::kOverlapped).overlaps);
}

TEST_CASE("no_sync does not communicate and the next pass averages the accumulated sum") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    CAPTURE(name_of(wrapper));
    struct Passes {
        std::vector<float> within, after;
        size_t collectives_within = 0, collectives_after = 0;
    };
    const auto seen = on_ranks(2, [&](dist::ProcessGroup& group) {
        nn::Linear module(1, 1, {.bias = false});
        const auto replicated = wrap(wrapper, module);
        const Tensor x = Tensor::full({1, 1}, group.rank() + 1);  // gradient 1 or 2
        const auto collectives = [&] {
            return group.events().snapshot(EventKind::kCollectiveBegin).size();
        };
        group.events().clear();
        Passes passes;
        {
            const auto no_sync = replicated->no_sync();
            sum((*replicated)(x)).backward();
            sum((*replicated)(x)).backward();
        }
        passes.within = flat_gradients(module);
        passes.collectives_within = collectives();
        sum((*replicated)(x)).backward();
        passes.after = flat_gradients(module);
        passes.collectives_after = collectives();
        return passes;
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        CHECK(seen[rank].within == std::vector{2.0f * static_cast<float>(rank + 1)});
        CHECK(seen[rank].collectives_within == 0);
        CHECK(seen[rank].after == std::vector{4.5f});  // the mean of 3 and 6
        CHECK(seen[rank].collectives_after == 1);
    }
}

TEST_CASE("AveragedModule throws an error that names the rank for a missing gradient") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup&) {
        Toy module;
        AveragedModule replicated(module);
        const Tensor unrelated = sum(module.fc1(draw({1, 3}, 1)));
        replicated(draw({4, 3}, 1));
        return message_of([&] { unrelated.backward(); });
    });
    for (const std::string& message : messages)
        CHECK(contains(message, "has no gradient on rank"));
}

TEST_CASE("average_gradients names the parameter without a gradient and the rank") {
    const auto messages = on_ranks(1, [](dist::ProcessGroup& group) {
        const nn::Linear module(2, 3);
        return message_of([&] { average_gradients(module.parameters(), group); });
    });
    CHECK(messages[0] ==
          "average_gradients: parameter 0 of shape (3, 2) has no gradient on rank 0; "
          "every rank must compute all gradients");
}

TEST_CASE("averaging different modules throws an error on every rank") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        const nn::Linear module(2, 3 + group.rank());
        return message_of<MismatchedCollective>(
            [&] { average_parameters(module, group); });
    });
    for (const std::string& message : messages) CHECK(!message.empty());
}
