// The checks of lab 16, tasks 16.4 and 16.5: the order of the launches, and of the buckets.

#include "labs/16-bucketed-ddp/test_support.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace mini;
using namespace mini::lab16;

// ---- 16.4

TEST_CASE("DDP leaves the mean over the ranks on every rank", "[lab16][lab16.4]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto gradients = on_ranks(ranks, [](dist::ProcessGroup& group) {
        nn::Linear model(1, 1);
        DistributedDataParallel ddp(model);
        sum(ddp(Tensor::full({1, 1}, group.rank() + 1))).backward();
        return gradients_of(model);
    });
    for (const Values& rank : gradients) {
        INFO("ranks 0 .. " << ranks - 1 << " of " << ranks << " had the gradients 1 .. "
                           << ranks << "; this one ends with " << rank[0]);
        CHECK(rank[0] == about(static_cast<float>(ranks + 1) / 2, 1e-5));
        CHECK(rank[1] == about(1, 1e-5));
        CHECK(rank == gradients[0]);
    }
}

TEST_CASE("each bucket is launched once and in the order of the indices",
          "[lab16][lab16.4]") {
    const int ranks = GENERATE(1, 2, 3);
    const auto logs = on_ranks(ranks, [](dist::ProcessGroup& group) {
        Toy model;
        DistributedDataParallel ddp(model, kBucketEach);
        group.events().clear();
        sum(ddp(draw({4, 3}, 1))).backward();
        return group.events().snapshot();
    });
    for (const auto& log : logs) {
        INFO("four buckets; the log says: " << story(log));
        INFO(why_launches_differ(log, "each is launched when it is its turn"));
        CHECK(indices(log, EventKind::kBucketLaunch) == std::vector<int64_t>{0, 1, 2, 3});
        CHECK(indices(log, EventKind::kBucketDone) == std::vector<int64_t>{0, 1, 2, 3});
        CHECK(collectives(log, "all_reduce") == 4);
    }
}

TEST_CASE("a bucket that is full too early is launched after the bucket before it",
          "[lab16][lab16.4]") {
    const auto logs = on_ranks(1, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/true);
        DistributedDataParallel ddp(model, kBucketEach);
        group.events().clear();
        INFO("one rank; bucket 1 is full first, and then bucket 0");
        ddp(Tensor::ones({1})).backward();
        return group.events().snapshot();
    });
    INFO("the log says: " << story(logs[0]));
    INFO(why_launches_differ(logs[0], "0 and 1 are launched once 0 is full"));
    CHECK(indices(logs[0], EventKind::kBucketReady) == std::vector<int64_t>{1, 0});
    CHECK(indices(logs[0], EventKind::kBucketLaunch) == std::vector<int64_t>{0, 1});
}

TEST_CASE("the order of launches does not depend on the order of the gradients",
          "[lab16][lab16.4]") {
    struct Seen {
        std::vector<Event> log;
        Values gradients;
    };
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/group.rank() == 1);
        DistributedDataParallel ddp(model, kBucketEach);
        group.events().clear();
        ddp(Tensor::ones({1})).backward();
        return Seen{group.events().snapshot(), gradients_of(model)};
    });
    // The weight used last has twice the gradient: a has 1 2 1 on the three ranks, b has
    // 2 1 2.
    for (size_t rank = 0; rank < 3; ++rank) {
        const auto& [log, gradients] = seen[rank];
        INFO("rank " << rank << " of 3: " << story(log));
        INFO(why_launches_differ(
            log,
            "a full bucket must wait for the buckets before it, or a's gradient is added "
            "to b's gradient of another rank"));
        CHECK(indices(log, EventKind::kBucketLaunch) == std::vector<int64_t>{0, 1});
        CHECK(gradients[0] == about(4.0f / 3, 1e-5));
        CHECK(gradients[1] == about(5.0f / 3, 1e-5));
    }
    CHECK(indices(seen[0].log, EventKind::kGradReady) == std::vector<int64_t>{1, 0});
    CHECK(indices(seen[1].log, EventKind::kGradReady) == std::vector<int64_t>{0, 1});
}

TEST_CASE("the first bucket is launched before the last gradient is ready",
          "[lab16][lab16.4]") {
    const auto logs = on_ranks(2, [](dist::ProcessGroup& group) {
        Toy model;
        DistributedDataParallel ddp(model, kBucketEach);
        group.events().clear();
        sum(ddp(draw({4, 3}, 1))).backward();
        return group.events().snapshot();
    });
    for (const auto& log : logs) {
        INFO("the log says: " << story(log));
        INFO(why_launches_differ(log,
                                 "a bucket launched at the end is not hidden behind the "
                                 "backward pass"));
        const auto launch =
            std::ranges::find(log, EventKind::kBucketLaunch, &Event::kind);
        const auto gradients_after = std::count_if(
            launch, log.end(),
            [](const Event& event) { return event.kind == EventKind::kGradReady; });
        CHECK(gradients_after == 3);
    }
}

namespace {

// Runs the backward pass of rank 0 before rank 1 begins its own. Returns the number of
// gradients that rank 0 has when its backward pass has completed or thrown.
int64_t gradients_without_the_other_rank() {
    std::promise<void> rank_0_done;
    std::atomic<int64_t> gradients = 0;
    const auto count_gradient = [&](const Tensor&) {
        if (++gradients == 4) rank_0_done.set_value();
    };
    const auto body = [&](dist::ProcessGroup& group) {
        Toy model;
        DistributedDataParallel ddp(model, kBucketEach);
        const Tensor loss = sum(ddp(draw({4, 3}, 1)));
        if (group.rank() == 1) {
            rank_0_done.get_future().wait_for(std::chrono::seconds(30));
            return loss.backward();
        }
        for (const Tensor& parameter : model.parameters())
            grad_accumulator(parameter)->add_hook(count_gradient);
        try {
            loss.backward();
        } catch (const Error&) {
            if (gradients < 4) rank_0_done.set_value();
            throw;
        }
    };
    try {
        dist::run_threads(2, body, {.timeout = std::chrono::seconds(3)});
    } catch (const Timeout&) {
        // happens if rank 0 waits for an all-reduce within its backward pass
    }
    return gradients;
}

}  // namespace

TEST_CASE("the backward pass continues while an all-reduce is in flight",
          "[lab16][lab16.4]") {
    const int64_t gradients = gradients_without_the_other_rank();
    INFO(
        "rank 1 does not begin its backward pass before rank 0 has all 4 gradients, so "
        "no all-reduce can complete before that; gradients of rank 0: "
        << gradients
        << ". A launch must not wait for its all-reduce: the end of the pass does");
    CHECK(gradients == 4);
}

// ---- 16.5

TEST_CASE("every rank calls one broadcast before its second pass", "[lab16][lab16.5]") {
    const auto broadcasts = on_ranks(3, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/true);
        DistributedDataParallel ddp(model, kBucketEach);
        ddp(Tensor::ones({1})).backward();
        group.events().clear();
        ddp(Tensor::ones({1}));
        return collectives(group.events().snapshot(), "broadcast");
    });
    for (size_t rank = 0; rank < 3; ++rank) {
        INFO("rank " << rank << " called " << broadcasts[rank]
                     << " broadcasts of the order; all ranks call a broadcast, also "
                        "the ranks that receive");
        CHECK(broadcasts[rank] == 1);
    }
}

TEST_CASE("the second step has buckets in the order of the first step's gradients",
          "[lab16][lab16.5]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup&) {
        TwoWays model(/*reversed=*/true);
        DistributedDataParallel ddp(model, kBucketEach);
        std::vector<Assignment> assigned{assignment_of(ddp)};
        for (int step = 0; step < 3; ++step) {
            ddp(Tensor::ones({1})).backward();
            assigned.push_back(assignment_of(ddp));
        }
        return assigned;
    });
    for (const auto& rank : seen) {
        INFO("a is used last, so its gradient is ready first. Buckets at first "
             << in_words(rank[0]) << " then after each step " << in_words(rank[1]) << ' '
             << in_words(rank[2]) << ' ' << in_words(rank[3]));
        CHECK(rank[0] == Assignment{{1}, {0}});
        CHECK(rank[1] == rank[0]);
        CHECK(rank[2] == Assignment{{0}, {1}});
        CHECK(rank[3] == rank[2]);
    }
}

TEST_CASE("all ranks use the order of rank 0", "[lab16][lab16.5]") {
    const int reversed_rank = GENERATE(0, 1, 2);
    struct Seen {
        Assignment assigned;
        Values gradients;
    };
    const auto seen = on_ranks(3, [&](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/group.rank() == reversed_rank);
        DistributedDataParallel ddp(model, kBucketEach);
        for (int step = 0; step < 2; ++step) {
            model.zero_grad();
            ddp(Tensor::ones({1})).backward();
        }
        return Seen{assignment_of(ddp), gradients_of(model)};
    });
    const Assignment expected =
        reversed_rank == 0 ? Assignment{{0}, {1}} : Assignment{{1}, {0}};
    for (int rank = 0; rank < 3; ++rank) {
        const Seen& mine = seen[static_cast<size_t>(rank)];
        INFO("gradients are ready in a different order on rank "
             << reversed_rank << "; all must have rank 0's buckets, "
             << in_words(expected) << ", and rank " << rank << " has "
             << in_words(mine.assigned));
        CHECK(mine.assigned == expected);
        CHECK(mine.gradients == seen[0].gradients);
    }
}

namespace {

// Makes five steps on this rank's rows of each batch; returns the parameters.
Values train(nn::Module& model, nn::Module& network, int rank, int ranks) {
    optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
    for (uint64_t step = 0; step < 5; ++step) {
        const int64_t share = 12 / ranks;
        const Tensor x = ops::narrow(draw({12, 3}, step), 0, rank * share, share);
        const Tensor y = ops::narrow(draw({12, 2}, 100 + step), 0, rank * share, share);
        optimizer.zero_grad();
        mse_loss(network(x), y).backward();
        optimizer.step();
    }
    return values_of(model.parameters());
}

}  // namespace

TEST_CASE("DDP trains on several ranks like one process on the whole batch",
          "[lab16][lab16.5]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const int64_t cap = GENERATE(1, 48, 1 << 20);
    manual_seed(9);
    Toy model;
    const Values alone = train(model, model, 0, 1);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(9 + static_cast<uint64_t>(group.rank()));
        Toy replica;
        DistributedDataParallel ddp(
            replica, {.first_bucket_bytes = cap, .bucket_cap_mb = parallel::mib(cap)});
        return train(replica, ddp, group.rank(), ranks);
    });
    for (const Values& rank : seen) {
        INFO("5 steps on " << ranks << " ranks with buckets of " << cap << " bytes");
        CHECK(rank == seen[0]);
        // 12 gradients are summed in a different order: an error of a few units in the
        // last place of numbers below 2.
        for (size_t i = 0; i < alone.size(); ++i)
            REQUIRE(rank[i] == about(alone[i], 1e-5));
    }
}
