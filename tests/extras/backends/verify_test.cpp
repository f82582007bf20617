// VerifyingBackend over a fake library: which calls reach it, how the ranks compare their
// calls, point-to-point messages, and the errors after its failure.

#include "libmini/extras/backends/verify.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/distributed/conformance.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// A backend over a fake library: transfer() counts its calls and runs a given function, or
// our own algorithm.
class FakeBackend : public VerifyingBackend {
  public:
    using Transfer = std::function<void()>;

    FakeBackend(std::unique_ptr<GroupTransport> side, bool verify,
                std::atomic<int>& transfers, Transfer transfer)
        : VerifyingBackend({.transport = std::move(side), .verify = verify}),
          transfers_(transfers),
          transfer_(std::move(transfer)) {}

    std::string name() const override { return "fake"; }

  protected:
    void transfer(const Call& call, Deadline) override {
        ++transfers_;
        if (transfer_) return transfer_();
        run_over(*side().transport, call, {});
    }
    void abandon() noexcept override {}

  private:
    std::atomic<int>& transfers_;
    const Transfer transfer_;
};

// Runs calls[rank] on each rank; returns the text of each rank's exception. All groups
// live until all ranks have finished. Each group is destroyed on its rank's thread,
// because the destructors wait for each other.
std::vector<std::string> outcome(
    const std::vector<std::function<void(ProcessGroup&)>>& calls,
    std::atomic<int>& transfers, const FakeBackend::Transfer& transfer = nullptr,
    bool verify = true, milliseconds timeout = kLong) {
    const auto world_size = static_cast<int>(calls.size());
    std::vector<std::shared_ptr<QueuedGroup>> groups;
    for (auto& side : make_transports("threads", world_size))
        groups.push_back(std::make_shared<QueuedGroup>(
            std::make_unique<FakeBackend>(std::move(side), verify, transfers, transfer),
            timeout));
    std::vector<std::string> texts(calls.size());
    std::latch ended(world_size);
    on_ranks(world_size, [&](int rank) {
        const auto i = static_cast<size_t>(rank);
        const auto group = std::move(groups[i]);
        texts[i] = failure_of([&] { calls[i](*group); });
        ended.arrive_and_wait();
    });
    return texts;
}

std::function<void(ProcessGroup&)> reduce(int64_t n) {
    return [=](ProcessGroup& group) { group.all_reduce(Tensor::zeros({n})); };
}

void nothing(ProcessGroup&) {}

}  // namespace

TEST_CASE("calls without data do not reach the library, but are compared") {
    std::atomic<int> transfers = 0;
    const auto agreeing = [](ProcessGroup& group) {
        for (int i = 0; i < 10; ++i) reduce(8)(group);
        group.barrier();
        reduce(0)(group);
    };
    CHECK(outcome({agreeing, agreeing}, transfers) == std::vector<std::string>(2));
    CHECK(transfers == 2 * 11);
    for (const std::string& text : outcome({reduce(0), reduce(1)}, transfers)) {
        CHECK(contains(text, "MismatchedCollective"));
        CHECK(contains(text, "rank 1 runs all_reduce #0 (sum of 1"));
    }
    CHECK(transfers == 2 * 11);
}

TEST_CASE("an error compares the calls with the same number, if both are known") {
    const auto all_reduce = [](uint64_t count, uint64_t sequence) {
        return Collective{
            .operation = Operation::kAllReduce, .count = count, .sequence = sequence};
    };
    CollectiveHistory history;
    for (uint64_t sequence = 0; sequence < 70; ++sequence)
        history.begin(all_reduce(sequence, sequence));
    const auto compared = [&](const Collective& theirs) {
        return failure_of([&] { history.check_same(0, 1, theirs); });
    };
    // The last 64 calls are kept. An equal call with the same number is not the reason.
    CHECK(contains(compared(all_reduce(9, 6)), "rank 0 runs all_reduce #6 (sum of 6"));
    CHECK(contains(compared(all_reduce(9, 6)), "rank 1 runs all_reduce #6 (sum of 9"));
    for (const Collective& theirs :
         {all_reduce(5, 5), all_reduce(9, 5), all_reduce(9, 75), all_reduce(68, 68)})
        CHECK(contains(compared(theirs), "rank 0 runs all_reduce #69"));
    CHECK(compared(all_reduce(69, 69)) == "");
}

TEST_CASE("each rank names the one of four ranks whose call has another field") {
    const auto usual = [](ProcessGroup& group) {
        group.broadcast(Tensor::zeros({8}), 0);
    };
    const std::vector<std::function<void(ProcessGroup&)>> others = {
        [](ProcessGroup& group) { group.broadcast(Tensor::zeros({8}), 1); },
        [](ProcessGroup& group) {
            group.broadcast(Tensor::zeros({8}, DType::kInt64), 0);
        },
        reduce(8)};
    for (const auto& other : others) {
        std::atomic<int> transfers = 0;
        for (const std::string& text : outcome({usual, usual, other, usual}, transfers))
            CHECK(contains(text, "rank 2 runs"));
        CHECK(transfers == 0);
    }
}

TEST_CASE("with verify off mismatched collectives reach the library") {
    std::atomic<int> transfers = 0;
    CHECK(outcome(
              {reduce(8), reduce(9)}, transfers, [] {}, false) ==
          std::vector<std::string>(2));
    CHECK(transfers == 2);
}

TEST_CASE("messages and barriers of programs go over the side channel") {
    std::atomic<int> transfers = 0;
    const auto miss = [](ProcessGroup& group) {
        check_reserved_tags(group);
        miss_monitored_barrier(group, milliseconds(1000));
    };
    CHECK(contains(outcome({miss, miss, miss}, transfers)[0],
                   "Timeout: monitored_barrier: rank 2 did not reach it"));
    const auto exchange = [](ProcessGroup& group) {
        if (group.rank() == 0) group.send(Tensor::zeros({9}), 1, 5);
        if (group.rank() == 1) group.recv(Tensor::zeros({8}), 0, 5);
        group.barrier();
    };
    for (const std::string& text : outcome({exchange, exchange}, transfers)) {
        CAPTURE(text);
        CHECK(contains(text, "MismatchedCollective"));
        CHECK(contains(text, "rank 0 sent 36 bytes where rank 1 expects 32"));
    }
}

TEST_CASE(
    "a failure of the library is reported with its message and the ranks that reply") {
    std::atomic<int> transfers = 0;
    const auto texts = outcome({reduce(8), reduce(8)}, transfers,
                               [] { throw std::runtime_error("the wire is hot"); });
    bool has_roll_call = false;
    for (const std::string& text : texts) {
        CAPTURE(text);
        CHECK(
            contains(text, "all_reduce #0 (sum of 8 float32) failed in fake: the wire"));
        has_roll_call |= contains(text, "all ranks replied");
    }
    CHECK(has_roll_call);
}

TEST_CASE(
    "if the library fails while ranks are silent the error is Timeout naming those "
    "ranks") {
    std::atomic<int> transfers = 0;
    const auto texts = outcome(
        {reduce(8), nothing, reduce(8), nothing}, transfers,
        [] { throw std::runtime_error("connection closed"); }, false, milliseconds(1000));
    for (const size_t rank : {size_t{0}, size_t{2}}) {
        CAPTURE(rank, texts[rank]);
        CHECK(contains(texts[rank], "Timeout: "));
        CHECK(contains(texts[rank], "failed in fake: connection closed"));
        CHECK(contains(texts[rank], "ranks 1 and 3 are silent: is each process stopped"));
    }
}

TEST_CASE("a rank that leaves ends the library's wait on every other rank") {
    std::atomic<int> transfers = 0;
    const auto leave = [](ProcessGroup& group) {
        group.barrier();
        dynamic_cast<QueuedGroup&>(group).abandon("out of memory");
    };
    const auto stay = [](ProcessGroup& group) {
        group.barrier();
        reduce(8)(group);
    };
    for (const std::string& text : outcome({stay, leave, stay}, transfers)) {
        CAPTURE(text);
        CHECK((text.empty() || contains(text, "PeerLost(1): ")));
        CHECK((text.empty() || contains(text, "out of memory")));
    }
}
