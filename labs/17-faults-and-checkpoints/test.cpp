// The checks of lab 17, task 17.1: the ranks compare their calls. Each task's cases need
// that task and the tasks before it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labs/17-faults-and-checkpoints/test_support.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/extras/backends/verify.hpp"
#include "libmini/tensor/tensor.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::lab17;

namespace {

Collective all_reduce(uint64_t count, uint64_t sequence) {
    return {.operation = Operation::kAllReduce, .count = count, .sequence = sequence};
}

Collective broadcast(int root, uint64_t sequence) {
    return {.operation = Operation::kBroadcast,
            .root = root,
            .count = 8,
            .sequence = sequence};
}

// Returns what check_same() throws; "no error" if it throws nothing.
std::string compared(const CollectiveHistory& history, const Collective& theirs) {
    try {
        history.check_same(0, 1, theirs);
    } catch (const MismatchedCollective& error) {
        return error.what();
    }
    return "no error";
}

// A backend whose library moves no data: counts the calls that reach it.
class CountingBackend : public VerifyingBackend {
  public:
    CountingBackend(std::unique_ptr<GroupTransport> side, int& transfers)
        : VerifyingBackend({.transport = std::move(side)}), transfers_(transfers) {}
    std::string name() const override { return "counting"; }

  protected:
    void transfer(const Call&, Deadline) override { ++transfers_; }
    void abandon() noexcept override {}

  private:
    int& transfers_;
};

struct Compared {
    Ends ends;
    int transfers = 0;               // of all ranks together
    std::vector<uint64_t> messages;  // by rank: sent for the comparisons
};

// Runs the calls of calls_of(rank) on every rank, on simulated connections.
Compared run_calls(int world_size,
                   const std::function<std::vector<Collective>(int rank)>& calls_of) {
    Compared result;
    result.messages.resize(static_cast<size_t>(world_size));
    ProcessCluster cluster(world_size, parse_links(kLinks), 3);
    auto streams = connect_all(cluster);
    result.ends = finished(cluster.run([&](int rank) {
        auto mesh = std::make_unique<MeshTransport>(
            rank, std::move(streams[static_cast<size_t>(rank)]));
        const MeshTransport& side = *mesh;
        CountingBackend backend(std::move(mesh), result.transfers);
        try {
            for (const Collective& collective : calls_of(rank))
                backend.run({.operation = collective.operation}, collective, kTimeout);
            result.messages[static_cast<size_t>(rank)] = side.messages_sent();
        } catch (const std::exception&) {
            backend.leave(current_failure());
            throw;
        }
        backend.leave({Failure::Kind::kPeerLost, rank, "the end"});
    }));
    return result;
}

// Checks that all ranks have compared their calls with the call `other` of rank `odd`.
void check_blamed(const Compared& result, int odd, const Collective& other) {
    for (const ProcessEnd& end : result.ends) {
        CHECK(contains(how(end), "MismatchedCollective"));
        CHECK(contains(how(end), concat("rank ", odd, " runs ", describe(other))));
        CHECK(seconds_of(end) < 1);  // long before the deadline
    }
    CHECK(result.transfers == 0);
}

}  // namespace

TEST_CASE("an error compares the collectives with the same sequence number",
          "[lab17][lab17.1]") {
    CollectiveHistory history;
    history.begin(broadcast(0, 6));
    history.begin(all_reduce(100, 7));
    const std::string message = compared(history, broadcast(1, 6));
    INFO(
        "this rank ran broadcast #6 from rank 0, then all_reduce #7; rank 1 sends "
        "broadcast #6 from rank 1; got: "
        << message << "; hint 1 of 17.1 helps");
    CHECK(contains(message, "rank 0 runs broadcast #6 (8 float32 from rank 0), but"));
    CHECK(contains(message, "rank 1 runs broadcast #6 (8 float32 from rank 1)"));
}

TEST_CASE("an error compares the current collective if the number is unknown",
          "[lab17][lab17.1]") {
    CollectiveHistory history;
    for (uint64_t sequence = 0; sequence < 70; ++sequence)
        history.begin(all_reduce(sequence, sequence));
    for (const Collective& theirs :
         {broadcast(0, 5), broadcast(0, 75), all_reduce(69, 68)}) {
        const std::string message = compared(history, theirs);
        INFO(
            "this rank ran all_reduce #0 to #69 and keeps the last 64 (#6 to #69); it "
            "compares "
            << describe(theirs) << "; got: " << message);
        const char* const mine = theirs.sequence == 68
                                     ? "rank 0 runs all_reduce #68 (sum of 68"
                                     : "rank 0 runs all_reduce #69 (sum of 69";
        CHECK(contains(message, mine));
    }
    INFO(
        "rank 1 is late: it sends all_reduce #68, and this rank ran the same #68 before "
        "its current #69; both must appear, or the error compares a call with itself; "
        "got: "
        << compared(history, all_reduce(68, 68)));
    CHECK(contains(compared(history, all_reduce(68, 68)), "rank 0 runs all_reduce #69"));
    CHECK(compared(history, all_reduce(69, 69)) == "no error");
}

TEST_CASE("ranks that agree reach the library after one message to each other rank",
          "[lab17][lab17.1]") {
    for (const int world_size : {1, 2, 3, 4, 7}) {
        const Compared result = run_calls(world_size, [](int) {
            return std::vector<Collective>{all_reduce(8, 0), broadcast(0, 1),
                                           all_reduce(9, 2)};
        });
        INFO(world_size << " ranks run the same three calls" << story(result.ends));
        for (const ProcessEnd& end : result.ends) CHECK(how(end) == "returned");
        CHECK(result.transfers == 3 * world_size);
        const auto peers = static_cast<uint64_t>(world_size - 1);
        for (const uint64_t messages : result.messages) {
            INFO("each call sends one fingerprint to each of " << peers << " ranks");
            CHECK(messages == 3 * peers);
        }
    }
}

TEST_CASE("one rank with another call causes an error on all ranks, before data moves",
          "[lab17][lab17.1]") {
    for (const int world_size : {2, 3, 4, 7}) {
        for (const int odd : {0, world_size - 1}) {
            const Compared result = run_calls(world_size, [&](int rank) {
                return std::vector<Collective>{all_reduce(rank == odd ? 9 : 8, 0)};
            });
            INFO("rank " << odd << " of " << world_size
                         << " all-reduces 9 floats, the others 8; each rank must compare "
                            "its call with the calls of all others"
                         << story(result.ends));
            check_blamed(result, odd, all_reduce(9, 0));
        }
    }
}

TEST_CASE("calls differ if any of their fields differs", "[lab17][lab17.1]") {
    Collective of_int64 = all_reduce(8, 0), maximum = all_reduce(8, 0);
    of_int64.dtype = DType::kInt64;
    maximum.reduce_op = ReduceOp::kMax;
    const std::vector<std::pair<Collective, Collective>> calls = {
        {broadcast(0, 0), broadcast(1, 0)},
        {all_reduce(8, 0), broadcast(0, 0)},
        {all_reduce(8, 0), all_reduce(8, 1)},
        {all_reduce(8, 0), of_int64},
        {all_reduce(8, 0), maximum}};
    for (const auto& each : calls) {
        const Collective &usual = each.first, &other = each.second;
        const Compared result = run_calls(3, [&](int rank) {
            return std::vector<Collective>{rank == 1 ? other : usual};
        });
        INFO("rank 1 of 3 runs " << describe(other) << ", the others " << describe(usual)
                                 << story(result.ends));
        check_blamed(result, 1, other);
    }
}

TEST_CASE("a rank that never calls is named at the deadline", "[lab17][lab17.1]") {
    const Compared result = run_calls(4, [](int rank) {
        if (rank == 2) sleep_for(10 * kTimeout);
        return std::vector<Collective>{all_reduce(8, 0)};
    });
    INFO("rank 2 of 4 sleeps for 20 s; the timeout is 2 s" << story(result.ends));
    for (const size_t rank : {0u, 1u, 3u})
        CHECK(contains(how(result.ends[rank]), "rank 2 is silent"));
    CHECK(result.transfers == 0);
}
