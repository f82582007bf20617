// The checks of lab 11, task 11.2: trees and the barrier.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "labs/11-collectives/test_support.hpp"
#include "libmini/distributed/collectives/await_all_ranks.hpp"
#include "libmini/distributed/collectives/collectives.hpp"

using namespace mini;
using namespace mini::lab11;
using dist::ReduceOp;

namespace {

constexpr size_t kSize = 5, kBytes = kSize * sizeof(float);

Seen broadcast(int ranks, int root) {
    return on_cluster(ranks, integers(kSize), [&](auto& transport, Values& values) {
        dist::tree_broadcast(transport, std::as_writable_bytes(std::span(values)), root);
    });
}

Seen reduced(int ranks, int root, ReduceOp op = ReduceOp::kSum) {
    return on_cluster(ranks, integers(kSize), [&](auto& transport, Values& values) {
        dist::tree_reduce(transport, elements(values), op, root);
    });
}

int roots_of(int ranks) { return GENERATE_COPY(range(0, ranks)); }

// Returns the number of calls that send (`peer` is &Step::to) or receive (&Step::from).
int total(const Seen& seen, int Step::*peer) {
    int calls = 0;
    for (const Journal& journal : seen.journals)
        for (const Step& step : journal) calls += step.*peer >= 0;
    return calls;
}

}  // namespace

TEST_CASE("a broadcast gives every rank the values of any root", "[lab11][lab11.2]") {
    const int ranks = GENERATE(4, 1, 2, 3, 7, 8, 9);
    const int root = roots_of(ranks);
    INFO(counted(ranks, "rank") << ", root " << root);
    const Seen seen = broadcast(ranks, root);
    for (size_t rank = 0; rank < seen.values.size(); ++rank) {
        INFO("rank " << rank << " called: " << in_words(seen.journals[rank]));
        REQUIRE(seen.values[rank] == integers(kSize)(root));
    }
}

TEST_CASE("a broadcast sends each rank but the root the data once", "[lab11][lab11.2]") {
    const int ranks = GENERATE(4, 1, 2, 3, 7, 8, 9);
    const int root = roots_of(ranks);
    const Seen seen = broadcast(ranks, root);
    for (size_t rank = 0; rank < seen.values.size(); ++rank) {
        const Journal& journal = seen.journals[rank];
        const auto receives = std::ranges::count_if(
            journal, [](const Step& step) { return step.from >= 0; });
        const Sent sent = sent_by(journal);
        INFO("rank " << rank << " of " << ranks << ", root " << root
                     << ", called: " << in_words(journal));
        REQUIRE(receives == (static_cast<int>(rank) == root ? 0 : 1));
        INFO("no rank sends more than ceil(log2 P) = " << rounds_of(ranks) << " times");
        REQUIRE(sent.messages <= rounds_of(ranks));
        REQUIRE(sent.bytes == static_cast<size_t>(sent.messages) * kBytes);
    }
    REQUIRE(total(seen, &Step::to) == ranks - 1);
}

TEST_CASE("a broadcast takes ceil(log2 P) turns", "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7, 8, 9, 16);
    const Seen seen = broadcast(ranks, ranks / 2);
    INFO(ranks << " ranks: " << seen.turns << " turns; a root that sends to all takes "
               << ranks - 1 << ",");
    INFO("and one that sends to its nearest child first keeps those waiting that have");
    INFO("children of their own");
    REQUIRE(seen.turns == rounds_of(ranks));
}

TEST_CASE("a reduce leaves the sum on any root", "[lab11][lab11.2]") {
    const int ranks = GENERATE(4, 1, 2, 3, 7, 8, 9);
    const int root = roots_of(ranks);
    INFO(counted(ranks, "rank") << ", root " << root);
    const Seen seen = reduced(ranks, root);
    INFO("the root called: " << in_words(seen.journals[static_cast<size_t>(root)]));
    REQUIRE(seen.values[static_cast<size_t>(root)] == sum_of_integers(ranks, kSize));
    REQUIRE(seen.messages_left == 0);
}

TEST_CASE("a reduce combines with its operation, and only adds for an average",
          "[lab11][lab11.2]") {
    INFO("float 0 of ranks 0 to 4 is 1, 2, 3, 4, 5");
    REQUIRE(reduced(5, 0, ReduceOp::kMax).values[0][0] == 5);
    REQUIRE(reduced(5, 0, ReduceOp::kProduct).values[0][0] == 120);
    INFO("the caller divides by the number of ranks, see collectives.hpp");
    REQUIRE(reduced(5, 0, ReduceOp::kAvg).values[0][0] == 15);
}

TEST_CASE("a reduce takes each rank's data once, in ceil(log2 P) turns",
          "[lab11][lab11.2]") {
    const int ranks = GENERATE(4, 1, 2, 3, 7, 8, 9, 16);
    const int root = ranks / 2;
    const Seen seen = reduced(ranks, root);
    for (int rank = 0; rank < ranks; ++rank) {
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << ", root " << root
                     << ", called: " << in_words(journal));
        INFO("each rank but the root sends once, and the root does not send");
        const int messages = rank == root ? 0 : 1;
        REQUIRE(sent_by(journal) ==
                Sent{messages, static_cast<size_t>(messages) * kBytes});
    }
    INFO(ranks << " ranks: " << seen.turns
               << " turns; a rank that waits for its farthest");
    INFO(
        "child first, whose data is the last to be ready, keeps the nearer ones waiting");
    REQUIRE(seen.turns == rounds_of(ranks));
}

TEST_CASE("the tree all-reduce leaves the sum on every rank", "[lab11][lab11.2]") {
    check_sums(dist::tree_all_reduce);
}

TEST_CASE("the tree all-reduce knows all operations", "[lab11][lab11.2]") {
    check_operations(dist::tree_all_reduce);
}

TEST_CASE("the tree all-reduce averages large float16", "[lab11][lab11.2]") {
    check_half_average(dist::tree_all_reduce);
}

TEST_CASE("the tree all-reduce takes 2 ceil(log2 P) turns", "[lab11][lab11.2]") {
    const int ranks = GENERATE(4, 1, 2, 3, 8, 9);
    INFO(counted(ranks, "rank") << ": a reduce, then a broadcast");
    REQUIRE(all_reduced(dist::tree_all_reduce, ranks, integers(kSize)).turns ==
            2 * rounds_of(ranks));
}

TEST_CASE("no rank leaves the barrier before the last has come", "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 5, 7, 8, 9);
    const int late = roots_of(ranks);
    std::vector<VirtualTime> left(static_cast<size_t>(ranks));
    const Seen seen = on_cluster(ranks, integers(0), [&](auto& transport, Values&) {
        if (transport.rank() == late) transport.sleep_until(50 * kTurn);
        dist::dissemination_barrier(transport);
        left[static_cast<size_t>(transport.rank())] = transport.now();
    });
    for (size_t rank = 0; rank < left.size(); ++rank) {
        const auto turn = left[rank] / kTurn;
        INFO(counted(ranks, "rank") << "; rank " << late << " comes at turn 50, and rank "
                                    << rank << " left at turn " << turn);
        INFO("rank " << rank << " called: " << in_words(seen.journals[rank]));
        REQUIRE(turn >= 50);
    }
}

TEST_CASE("a barrier is ceil(log2 P) empty messages for each rank", "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 5, 7, 8, 9);
    const Seen seen = on_cluster(ranks, integers(0), [](auto& transport, Values&) {
        dist::dissemination_barrier(transport);
    });
    for (size_t rank = 0; rank < seen.journals.size(); ++rank) {
        const Sent sent = sent_by(seen.journals[rank]);
        INFO("rank " << rank << " of " << ranks
                     << " called: " << in_words(seen.journals[rank]));
        INFO("and should send " << counted(rounds_of(ranks), "empty message"));
        REQUIRE(sent.messages == rounds_of(ranks));
        REQUIRE(sent.bytes == 0);
    }
    REQUIRE(seen.turns == rounds_of(ranks));
}
