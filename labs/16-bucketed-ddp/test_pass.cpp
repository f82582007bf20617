// The checks of lab 16, tasks 16.3 and 16.4: one pass of the reducer, and its hooks.

#include "labs/16-bucketed-ddp/test_support.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace mini;
using namespace mini::lab16;

namespace {

// One bucket for all three weights of Branches: c first, then b, then a.
struct Incomplete {
    std::string backward, forward;  // messages
    Values b_and_a;                 // in the bucket
    std::vector<bool> are_views;    // b and a
    std::vector<Event> log;
};

// Runs a pass in which c has no gradient, so that the bucket does not become full.
std::vector<Incomplete> passes_without_c() {
    return on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model);
        model.on[2] = false;
        const Tensor loss = ddp(Tensor::full({1}, group.rank() + 1));
        group.events().clear();
        Incomplete seen;
        seen.backward = error_of([&] { loss.backward(); });
        seen.log = group.events().snapshot();
        const Bucket& bucket = ddp.buckets().at(0);
        seen.b_and_a = values_of({bucket.gradient(1), bucket.gradient(2)});
        for (const size_t i : {1, 0})
            seen.are_views.push_back(
                model.weights[i].grad().defined() &&
                model.weights[i].grad().shares_storage(bucket.buffer()));
        seen.forward = error_of([&] { ddp(Tensor::ones({1})); });
        return seen;
    });
}

}  // namespace

// ---- 16.3

TEST_CASE("a gradient is divided by the number of ranks and copied to its bucket",
          "[lab16][lab16.3]") {
    const auto seen = passes_without_c();
    for (size_t rank = 0; rank < 2; ++rank) {
        const auto own = static_cast<float>(rank + 1) / 2;
        INFO("rank " << rank << " of 2: a and b have the gradient " << rank + 1
                     << ", and c has none");
        INFO("the numbers of b and a in the bucket, before any all-reduce:");
        CHECK(seen[rank].b_and_a == Values{own, own});
        INFO("the gradients of b and a are views of the bucket now");
        CHECK(seen[rank].are_views == std::vector<bool>{true, true});
    }
}

TEST_CASE("each gradient is recorded when it is ready", "[lab16][lab16.3]") {
    for (const auto& [backward, forward, values, views, log] : passes_without_c()) {
        INFO("b has its gradient first, then a; the log says: " << story(log));
        CHECK(indices(log, EventKind::kGradReady) == std::vector<int64_t>{1, 0});
        CHECK(indices(log, EventKind::kBucketReady).empty());
        CHECK(indices(log, EventKind::kBackwardEnd).size() == 1);
        for (const Event& event : log)
            if (event.kind == EventKind::kGradReady) CHECK(event.bytes == 4);
    }
}

TEST_CASE("a gradient that does not come is an error in this pass and in the next",
          "[lab16][lab16.3]") {
    for (const Incomplete& seen : passes_without_c()) {
        INFO("c has no gradient, so its bucket is not full at the end of the pass:");
        INFO("throw_unlaunched() of GradientBuckets. It says: " << seen.backward);
        CHECK_THAT(seen.backward, ContainsSubstring(" c"));
        INFO("The next forward pass: throw_unfinished(). It says: " << seen.forward);
        CHECK_THAT(seen.forward, ContainsSubstring(" c"));
    }
}

TEST_CASE("a pass that does not average leaves the gradients of this rank",
          "[lab16][lab16.3]") {
    struct Seen {
        Values gradients;
        std::vector<Event> log;
    };
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        const auto no_sync = ddp.no_sync();
        group.events().clear();
        for (int pass = 0; pass < 2; ++pass)
            ddp(Tensor::full({1}, group.rank() + 1)).backward();
        return Seen{gradients_of(model), group.events().snapshot()};
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        const auto own = static_cast<float>(rank + 1);
        INFO("two passes within no_sync on rank " << rank << " of 2");
        CHECK(seen[rank].gradients == Values{2 * own, 4 * own});
        CHECK(story(seen[rank].log).empty());
    }
}

TEST_CASE("the hooks end with the wrapper", "[lab16][lab16.3]") {
    const auto seen = on_ranks(1, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        for (int i = 0; i < 3; ++i) const DistributedDataParallel ddp(model);
        group.events().clear();
        model(Tensor::ones({1})).backward();
        return std::pair(gradients_of(model), story(group.events().snapshot()));
    });
    INFO("three wrappers have been made and destroyed; then a pass without a wrapper");
    INFO("~Reducer() removes what the constructor has added");
    CHECK(seen[0].first == Values{1, 2});
    CHECK(seen[0].second.empty());
}

// ---- 16.4

namespace {

int64_t position(const std::vector<Event>& log, EventKind kind, int64_t index) {
    for (size_t i = 0; i < log.size(); ++i)
        if (log[i].kind == kind && log[i].index == index) return static_cast<int64_t>(i);
    return -1;
}

}  // namespace

TEST_CASE("the log of a pass has each event once and in its order", "[lab16][lab16.4]") {
    const size_t pass = GENERATE(0, 1, 2);
    const auto logs = on_ranks(2, [&](dist::ProcessGroup& group) {
        Toy model;
        DistributedDataParallel ddp(model, {.first_bucket_bytes = 48});
        ddp.set_gradient_order({3, 2, 1, 0});  // no order is learnt, and none is sent
        for (size_t i = 0; i < pass; ++i) sum(ddp(draw({4, 3}, 1))).backward();
        const Tensor loss = sum(ddp(draw({4, 3}, 1)));
        group.events().clear();
        loss.backward();
        return group.events().snapshot();
    });
    for (const auto& log : logs) {
        INFO("pass " << pass << "; bucket 0 has the parameters 3 and 2, bucket 1 has 1");
        INFO("and 0; each bucket is one all-reduce");
        CHECK(collectives(log, "all_reduce") == 2);
        INFO("the log says: " << story(log));
        CHECK(indices(log, EventKind::kGradReady) == std::vector<int64_t>{3, 2, 1, 0});
        CHECK(indices(log, EventKind::kBackwardEnd).size() == 1);
        for (const EventKind kind :
             {EventKind::kBucketReady, EventKind::kBucketLaunch, EventKind::kBucketDone})
            CHECK(indices(log, kind) == std::vector<int64_t>{0, 1});
        const int64_t end = position(log, EventKind::kBackwardEnd, 0);
        for (const int64_t bucket : {0, 1}) {
            const int64_t full = position(log, EventKind::kBucketReady, bucket);
            const int64_t launch = position(log, EventKind::kBucketLaunch, bucket);
            INFO("bucket " << bucket << ": its last gradient, full, launch, end, done");
            CHECK(position(log, EventKind::kGradReady, bucket == 0 ? 2 : 0) < full);
            CHECK(full < launch);
            CHECK(launch < end);
            const int64_t done = position(log, EventKind::kBucketDone, bucket);
            CHECK(end < done);
            const auto ended =
                std::count_if(log.begin(), log.begin() + done, [](auto& e) {
                    return e.kind == EventKind::kCollectiveEnd &&
                           e.name == std::string("all_reduce");
                });
            INFO("all-reduces that have ended before it is done: " << ended);
            CHECK(ended > bucket);
            CHECK(log[static_cast<size_t>(launch)].bytes == (bucket == 0 ? 48 : 80));
        }
    }
}

TEST_CASE("gradients that are not set to zero are averaged again with the new ones",
          "[lab16][lab16.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        ddp.set_gradient_order({1, 0});  // no order is learnt, and none is sent
        const Tensor x = Tensor::full({1}, group.rank() + 1);
        std::vector<Values> passes;
        for (int pass = 0; pass < 4; ++pass) {
            if (pass == 3) model.zero_grad();
            ddp(x).backward();
            passes.push_back(gradients_of(model));
        }
        return passes;
    });
    for (const auto& passes : seen) {
        INFO("each pass has the gradients 1, 2 on rank 0 and 2, 4 on rank 1;");
        INFO("before the fourth pass they are set to zero");
        CHECK(passes[0] == Values{1.5f, 3});
        CHECK(passes[1] == Values{3, 6});
        CHECK(passes[2] == Values{4.5f, 9});
        CHECK(passes[3] == Values{1.5f, 3});
    }
}

TEST_CASE("after passes within no_sync the next pass averages the sum",
          "[lab16][lab16.4]") {
    struct Seen {
        Values gradients;
        int64_t all_reduces = 0;
        bool is_view = false;
    };
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        ddp.set_gradient_order({1, 0});  // no order is learnt, and none is sent
        const Tensor x = Tensor::full({1}, group.rank() + 1);
        ddp(x).backward();
        model.zero_grad();
        {
            const auto no_sync = ddp.no_sync();
            ddp(x).backward();
        }
        group.events().clear();
        ddp(x).backward();
        return Seen{gradients_of(model),
                    collectives(group.events().snapshot(), "all_reduce"),
                    model.a.grad().shares_storage(ddp.buckets()[1].buffer())};
    });
    for (const auto& [gradients, all_reduces, is_view] : seen) {
        INFO("one pass within no_sync and one outside: 2 and 4 on rank 0, 4 and 8 on 1");
        CHECK(gradients == Values{3, 6});
        CHECK(all_reduces == 2);
        INFO("the gradient of a is a view of its bucket");
        CHECK(is_view);
    }
}

TEST_CASE("one forward pass averages once", "[lab16][lab16.4]") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup&) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        const Tensor loss = ddp(Tensor::ones({1}));
        loss.backward({.gradient = {}, .retain_graph = true});
        return error_of([&] { loss.backward(); });
    });
    for (const std::string& message : messages) {
        INFO("a second backward() after one forward pass would not average, and throws.");
        INFO("averages_next() is false after the first");
        CHECK(message != "no error");
    }
}

TEST_CASE("averages_next() is true until the pass has ended", "[lab16][lab16.4]") {
    const auto seen = on_ranks(1, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        parallel::Reducer reducer(model.named_parameters(), kBucketEach, group);
        std::vector<bool> answers;
        const auto ask = [&](const Tensor&) {
            answers.push_back(reducer.averages_next());
        };
        ask({});
        grad_accumulator(model.a)->add_hook(ask);
        const Tensor loss = model(Tensor::ones({1}));
        reducer.prepare_for_backward(loss);
        ask({});
        loss.backward();
        ask({});
        return answers;
    });
    INFO(
        "before and after prepare_for_backward(), at the last gradient, after "
        "backward()");
    CHECK(seen[0] == std::vector<bool>{false, true, true, false});
}

TEST_CASE("the all-reduce of a full bucket runs while the backward pass goes on",
          "[lab16][lab16.4]") {
    const auto ended = on_ranks(2, [](dist::ProcessGroup& group) {
        Toy model;
        DistributedDataParallel ddp(model, kBucketEach);
        const Tensor loss = sum(ddp(draw({4, 3}, 1)));
        bool has_ended = false;
        // Called when fc1.weight, the last parameter, has its gradient.
        grad_accumulator(model.fc1.weight)->add_hook([&](const Tensor&) {
            for (int ms = 0; ms < 3000 && !has_ended; ++ms) {
                for (const Event& event : group.events().snapshot())
                    has_ended |= event.kind == EventKind::kCollectiveEnd &&
                                 event.name == std::string("all_reduce");
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        group.events().clear();
        loss.backward();
        return has_ended;
    });
    for (const bool has_ended : ended) {
        INFO("the backward pass waits 3 s at its last gradient. By then the all-reduce");
        INFO("of bucket 0 must have ended: was it really started when it was launched?");
        CHECK(has_ended);
    }
}
