// The checks of lab 11, task 11.2: trees and the barrier.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "labs/11-collectives/test_support.hpp"
#include "libmini/distributed/collectives/dissemination_barrier.hpp"
#include "libmini/distributed/collectives/tree_broadcast.hpp"
#include "libmini/distributed/collectives/tree_reduce.hpp"

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
    const int ranks = GENERATE(1, 2, 3, 4, 7, 8, 9);
    const int root = roots_of(ranks);
    INFO(counted(ranks, "rank") << ", root " << root << "; hint 2 of 11.2 helps");
    const Seen seen = broadcast(ranks, root);
    for (size_t rank = 0; rank < seen.values.size(); ++rank) {
        INFO("rank " << rank << " called: " << in_words(seen.journals[rank]));
        REQUIRE(seen.values[rank] == integers(kSize)(root));
    }
}

TEST_CASE("a broadcast sends each rank but the root the data once", "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7, 8, 9);
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
    INFO("children of their own; hint 3 of 11.2 helps");
    REQUIRE(seen.turns == rounds_of(ranks));
}

TEST_CASE("a reduce leaves the sum on any root", "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7, 8, 9);
    const int root = roots_of(ranks);
    INFO(counted(ranks, "rank") << ", root " << root << "; hint 2 of 11.2 helps");
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
    INFO("the caller divides by the number of ranks, see tree_reduce.hpp");
    REQUIRE(reduced(5, 0, ReduceOp::kAvg).values[0][0] == 15);
}

TEST_CASE("a reduce goes up the tree, and combines the nearest child first",
          "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7, 8, 9, 16);
    const int root = ranks / 2;
    const Seen seen = reduced(ranks, root);
    for (int relative = 0; relative < ranks; ++relative) {
        const int rank = (relative + root) % ranks;
        Journal wanted;
        for (int bit = 1; relative + bit < ranks && (relative & bit) == 0; bit *= 2)
            wanted.push_back({.from = (rank + bit) % ranks, .received = kBytes});
        const int parent = relative & (relative - 1);  // without its lowest 1 bit
        if (relative != 0)
            wanted.push_back({.to = (parent + root) % ranks, .sent = kBytes});
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << ", root " << root
                     << ", called: " << in_words(journal));
        INFO("and should call: " << in_words(wanted) << "; hint 2 of 11.2 helps");
        const bool is_as_wanted = journal == wanted;
        REQUIRE(is_as_wanted);
    }
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
        INFO("hint 2 of 11.2 helps");
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

namespace {

// Passes messages on to a WatchedTransport, and keeps the collective that has begun.
class Joining : public dist::GroupTransport {
  public:
    explicit Joining(WatchedTransport& inner) : inner_(inner) {}

    dist::Collective begun;
    std::chrono::milliseconds timeout{0};

    void begin(const dist::Collective& collective,
               std::chrono::milliseconds limit) override {
        begun = collective;
        timeout = limit;
    }
    int rank() const override { return inner_.rank(); }
    int world_size() const override { return inner_.world_size(); }
    void send(int to, std::span<const std::byte> out) override { inner_.send(to, out); }
    void recv(int from, std::span<std::byte> in, const dist::Combine& combine) override {
        inner_.recv(from, in, combine);
    }
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const dist::Combine& combine) override {
        inner_.send_recv(to, out, from, in, combine);
    }

    // A barrier needs no messages between two ranks, and no end.
    void post(dist::PointMessage&) override {}
    void progress() override {}
    void wake() noexcept override {}
    void set_on_wake(std::function<void()>) override {}
    uint64_t bytes_sent() const override { return 0; }
    uint64_t messages_sent() const override { return 0; }
    void leave(const dist::Failure&) noexcept override {}
    void interrupt() noexcept override {}

  private:
    WatchedTransport& inner_;
};

}  // namespace

TEST_CASE("await_all_ranks is a barrier in which the ranks join their group",
          "[lab11][lab11.2]") {
    const int ranks = GENERATE(1, 2, 3, 5, 8);
    std::vector<VirtualTime> left(static_cast<size_t>(ranks));
    std::vector<dist::Collective> begun(static_cast<size_t>(ranks));
    on_cluster(ranks, integers(0), [&](auto& transport, Values&) {
        const auto rank = static_cast<size_t>(transport.rank());
        if (rank == 0) transport.sleep_until(50 * kTurn);
        Joining joining(transport);
        dist::await_all_ranks(joining, dist::deadline_after(std::chrono::hours(1)));
        left[rank] = transport.now();
        begun[rank] = joining.begun;
    });
    for (size_t rank = 0; rank < left.size(); ++rank) {
        INFO("rank 0 comes at turn 50, and rank "
             << rank << " of " << ranks << " left at turn " << left[rank] / kTurn);
        INFO("await_all_ranks begins a collective, and then runs the barrier");
        REQUIRE(left[rank] / kTurn >= 50);
        REQUIRE(begun[rank].operation == dist::Operation::kBarrier);
        REQUIRE(begun[rank].sequence == dist::kFirstJoiningSequence);
    }
}
