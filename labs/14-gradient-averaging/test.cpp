// The checks of lab 14, tasks 14.1 to 14.3. Each task's cases need that task and the
// tasks before it.

#include "labs/14-gradient-averaging/test_support.hpp"

#include <cstdint>
#include <vector>

using namespace mini;
using namespace mini::lab14;

// ---- 14.1

TEST_CASE("average_gradients leaves the mean over the ranks on every rank",
          "[lab14][lab14.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    check_means(averaged(ranks, parallel::average_gradients));
}

TEST_CASE("average_gradients calls one all-reduce per parameter and no other collective",
          "[lab14][lab14.1]") {
    for (const Averaged& rank : averaged(3, parallel::average_gradients)) {
        INFO(
            "four parameters of 24 4 0 and 20 bytes, in this order; the all-reduces "
            "in the event log: "
            << concat(rank.all_reduces));
        CHECK(rank.all_reduces == std::vector<int64_t>{24, 4, 0, 20});
    }
}

TEST_CASE("a parameter without a gradient is an error that names it and the rank",
          "[lab14][lab14.1]") {
    check_missing_gradient(parallel::average_gradients);
}

// ---- 14.2

TEST_CASE("average_flat_gradients leaves the same mean", "[lab14][lab14.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    INFO("12 numbers are copied into flat, from offset 0 on, and after the all-reduce");
    INFO("copied back, again from offset 0 on");
    check_means(averaged(ranks, parallel::average_flat_gradients));
}

TEST_CASE("average_flat_gradients has the same error for a missing gradient",
          "[lab14][lab14.2]") {
    check_missing_gradient(parallel::average_flat_gradients);
}

TEST_CASE("average_flat_gradients copies every number back to its own gradient",
          "[lab14][lab14.2]") {
    // Rank r's gradients are 100 r, 100 r + 1, ... through all parameters.
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        auto parameters = parameters_with_gradients(group.rank());
        float next = 100.0f * static_cast<float>(group.rank());
        for (Tensor& parameter : parameters) {
            Tensor grad = parameter.grad();
            for (float& value : grad.span<float>()) value = next++;
        }
        parallel::average_flat_gradients(parameters, group);
        return gradients_of(parameters);
    });
    Values expected(12);
    std::iota(expected.begin(), expected.end(), 100.0f);
    for (const Values& rank : seen)
        for (size_t i = 0; i < expected.size(); ++i) {
            INFO("number " << i
                           << " is x, x + 100 and x + 200 on the three ranks, with x = "
                           << static_cast<float>(i));
            CHECK(rank[i] == about(expected[i], 1e-5));
        }
}

TEST_CASE("average_flat_gradients calls a single all-reduce of all bytes",
          "[lab14][lab14.2]") {
    for (const Averaged& rank : averaged(3, parallel::average_flat_gradients)) {
        INFO(
            "24 + 4 + 0 + 20 bytes are 48, in one message a hop instead of four; the "
            "all-reduces in the event log: "
            << concat(rank.all_reduces));
        CHECK(rank.all_reduces == std::vector<int64_t>{48});
    }
}

TEST_CASE("average_flat_gradients averages nothing if there is no parameter",
          "[lab14][lab14.2]") {
    for (const auto& bytes : on_ranks(2, [](dist::ProcessGroup& group) {
             parallel::average_flat_gradients(parameters_with_gradients(0), group);
             group.events().clear();
             parallel::average_flat_gradients({}, group);
             return all_reduces(group);
         })) {
        INFO("a list of no parameters: no message is needed");
        CHECK(bytes == std::vector<int64_t>{});
    }
}

// ---- 14.3

TEST_CASE("every rank calls one broadcast for each tensor", "[lab14][lab14.3]") {
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        Counted model(group.rank());
        tutorial::start_alike(model, group);
        auto bytes = bytes_of(group, "broadcast");
        std::ranges::sort(bytes);
        return bytes;
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        INFO("two parameters of 24 and 8 bytes, two buffers of 8; rank "
             << rank << " called broadcasts of " << concat(seen[rank]) << " bytes");
        INFO("all ranks call a broadcast, also the ranks that receive");
        CHECK(seen[rank] == std::vector<int64_t>{8, 8, 8, 24});
    }
}

TEST_CASE("all ranks start with the parameters and buffers of rank 0",
          "[lab14][lab14.3]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        manual_seed(100 + static_cast<uint64_t>(group.rank()));
        Counted model(group.rank());
        labs::WatchedGroup watched(group);  // a broadcast runs in its wait, not before
        tutorial::start_alike(model, watched);
        return state_of(model);
    });
    manual_seed(100);
    const State of_rank_0 = state_of(Counted(0));
    for (int rank = 0; rank < ranks; ++rank) {
        const State& mine = seen[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " drew its weights with seed "
                     << 100 + rank);
        CHECK(mine.parameters == of_rank_0.parameters);
        INFO("buffers belong to the model too, also buffers of integers");
        CHECK(mine.mean == of_rank_0.mean);
        CHECK(mine.count == of_rank_0.count);
    }
}
