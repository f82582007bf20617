// The checks of lab 17, task 17.2: the deadline of a wait, and the rank that its error
// names. All times are virtual.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "labs/17-faults-and-checkpoints/test_support.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/failure_detector.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::lab17;
using std::chrono::hours;
using std::chrono::milliseconds;
using Kind = Failure::Kind;

namespace {

// A job that waits without a deadline never ends: it is killed after this many steps.
constexpr size_t kMostSteps = 20'000;

// Runs three ring all-reduces on every rank, and calls `fault` before step `step`.
Ends run_rings(ProcessCluster& cluster, size_t step,
               const std::function<void(ProcessCluster&)>& fault) {
    cluster.set_on_step([&cluster, step, fault](size_t now) {
        if (now == step) fault(cluster);
        for (int rank = 0; now == kMostSteps && rank < cluster.process_count(); ++rank)
            cluster.kill(rank, Loss::kAll);
    });
    return finished(run_mesh(cluster, [](GroupTransport& transport) {
        for (uint64_t call = 0; call < 3; ++call) {
            std::vector<float> data(1000, 1.0f);
            transport.begin({.operation = Operation::kAllReduce,
                             .count = data.size(),
                             .sequence = call},
                            kTimeout);
            ring_all_reduce(transport, Elements(std::span(data)), ReduceOp::kSum);
        }
    }));
}

// Returns how all ranks ended, and whether the check has killed them.
std::string ring_story(const ProcessCluster& cluster, const Ends& ends) {
    const bool endless = cluster.steps() >= kMostSteps;
    return concat(story(ends),
                  endless ? concat("\n  killed by the check: no end after ", kMostSteps,
                                   " steps. Does the warning come once, and does the "
                                   "deadline end the wait?")
                          : "");
}

// What one rank tells rank 0.
struct Told {
    std::optional<int> awaited;     // its notice: it waits for this rank
    std::optional<Failure> report;  // `after` the start of rank 0's wait
    milliseconds after{0};
    bool closes = false;  // its connection, without a report
};

// Tells the detector that rank `waiting` waits for rank `awaited`.
void note(FailureDetector& detector, int waiting, int awaited,
          const CollectiveHistory& history) {
    MessageHeader header;
    header.kind = MessageHeader::Kind::kWaiting;
    header.rank = awaited;
    header.collective = history.current();
    detector.note_waiting(waiting, header);
}

constexpr int kRanks = 5;

// Reports to rank 0 as FailureDetector::leave does, or closes the connection.
void tell(MessageStream& rank_0, const Told& told) {
    if (told.report) {
        sleep_for(told.after);
        MessageHeader header;
        header.kind = MessageHeader::Kind::kFailure;
        const std::string report = to_text(*told.report);
        rank_0.send_last(header, std::as_bytes(std::span(report)));
    }
    if (told.closes) rank_0.channel().close();
}

// Rank 0 has waited 2 s for rank 1. told[r] is what rank r + 1 tells rank 0. Returns how
// rank 0 ended.
ProcessEnd blame(const std::vector<Told>& told) {
    ProcessCluster cluster(kRanks, parse_links(kLinks), 1);
    auto streams = connect_all(cluster);
    const Ends ends = finished(cluster.run([&](int rank) {
        std::vector<MessageStream>& mine = streams[static_cast<size_t>(rank)];
        const size_t index = static_cast<size_t>(rank) - 1;
        if (rank == 0) {
            CollectiveHistory history;
            history.begin({.operation = Operation::kBarrier, .sequence = 4});
            FailureDetector detector(0, mine, history);
            for (size_t i = 0; i < told.size(); ++i)
                if (told[i].awaited)
                    note(detector, static_cast<int>(i) + 1, *told[i].awaited, history);
            sleep_for(kTimeout);
            detector.deadline_passed(1, "rank 0 waited 2 s for rank 1", kTimeout);
        }
        if (index < told.size()) tell(mine[0], told[index]);
        sleep_for(10 * kTimeout);
    }));
    return ends[0];
}

Told reports(Kind kind, int rank, std::string message) {
    Told told;
    told.report = {kind, rank, std::move(message)};
    return told;
}

Told waits_for(int rank) {
    Told told;
    told.awaited = rank;
    return told;
}

Told closes(Told told) {
    told.closes = true;
    return told;
}

const Told kToldNothing{};

}  // namespace

// ---- the deadline

TEST_CASE("a wait ends at its deadline, and all ranks name the stopped rank",
          "[lab17][lab17.2]") {
    for (const int world_size : {2, 3, 5, 7}) {
        const int stopped = world_size - 2;
        ProcessCluster cluster(world_size, parse_links(kLinks), 0);
        const Ends ends = run_rings(cluster, 20, [&](ProcessCluster& running) {
            running.pause(stopped, hours(1));
        });
        INFO("rank " << stopped << " of " << world_size
                     << " is stopped for an hour within a ring all-reduce; in a ring, "
                        "most ranks wait for a rank that itself waits; the timeout is 2 s"
                     << ring_story(cluster, ends));
        for (int rank = 0; rank < world_size; ++rank) {
            if (rank == stopped) continue;
            const ProcessEnd& end = ends[static_cast<size_t>(rank)];
            REQUIRE(contains(how(end), concat("rank ", stopped, " is silent")));
            CHECK(end.failure->kind == Kind::kTimeout);
            CHECK(seconds_of(end) >= 2);
            CHECK(seconds_of(end) <= 2.21);
        }
    }
}

TEST_CASE("a wait of 90 % of the timeout is no failure", "[lab17][lab17.2]") {
    ProcessCluster cluster(4, parse_links(kLinks), 0);
    const Ends ends = run_rings(cluster, 30, [](ProcessCluster& running) {
        running.pause(1, kTimeout * 9 / 10);
    });
    INFO("rank 1 is stopped for 1.8 s; the timeout is 2 s: the others only warn"
         << ring_story(cluster, ends));
    for (const ProcessEnd& end : ends) CHECK(how(end) == "returned");
    INFO("the ranks made " << cluster.steps()
                           << " steps: a rank warns once, and then sleeps until the "
                              "deadline");
    CHECK(cluster.steps() < 5000);
}

// ---- the chain

TEST_CASE("a rank that has told nothing is the cause", "[lab17][lab17.2]") {
    const ProcessEnd end = blame({kToldNothing});
    INFO("rank 0: " << how(end));
    CHECK(contains(how(end),
                   "Timeout: rank 0 waited 2 s for rank 1; rank 1 is silent: is its"));
    CHECK(seconds_of(end) <= 2.11);
}

TEST_CASE("a rank whose connection is closed is lost", "[lab17][lab17.2]") {
    const ProcessEnd end = blame({closes(kToldNothing)});
    INFO("rank 1 has closed its connection, without a report; rank 0: " << how(end));
    CHECK(contains(how(end), "PeerLost(1): rank 1 is gone (rank 0 waited"));

    const ProcessEnd noticed = blame({closes(waits_for(4))});
    INFO("the same, but before rank 1 told that it waits for rank 4; rank 0: "
         << how(noticed));
    CHECK(contains(how(noticed), "PeerLost(1): rank 1 is gone (rank 0 waited"));
}

TEST_CASE("a report of another failure than a timeout ends the search",
          "[lab17][lab17.2]") {
    const ProcessEnd lost = blame(
        {reports(Kind::kPeerLost, 3, "rank 3 is gone"), kToldNothing, kToldNothing});
    INFO("rank 1 reports PeerLost(3); rank 0: " << how(lost));
    CHECK(contains(how(lost), "PeerLost(3): rank 1 reports: rank 3 is gone"));

    const ProcessEnd other = blame({reports(Kind::kOther, -1, "no memory")});
    INFO("rank 1 reports that it has no memory; rank 0: " << how(other));
    CHECK(contains(how(other), "PeerLost(1): rank 1 failed: no memory"));

    const ProcessEnd late =
        blame({reports(Kind::kTimeout, -1, "rank 1 waited for any rank")});
    INFO("rank 1 reports a Timeout that names no rank; rank 0: " << how(late));
    CHECK(contains(how(late), "Timeout: rank 1 reports: rank 1 waited for any rank"));
}

TEST_CASE("a rank that waited for another rank is not the cause", "[lab17][lab17.2]") {
    const ProcessEnd end = blame({reports(Kind::kTimeout, 2, "late"),
                                  reports(Kind::kTimeout, 3, "late"), kToldNothing});
    INFO(
        "rank 1 waited for rank 2, rank 2 for rank 3, and rank 3 reports nothing; rank "
        "0: "
        << how(end) << "; hint 1 of 17.2 helps");
    CHECK(contains(how(end),
                   "Timeout: rank 0 waited 2 s for rank 1; rank 1 waited for "
                   "rank 2; rank 2 waited for rank 3; rank 3 is silent"));
}

TEST_CASE("a report may come within a twentieth of the timeout after the deadline",
          "[lab17][lab17.2]") {
    Told told = reports(Kind::kTimeout, 2, "late");
    told.after = kTimeout + milliseconds(50);
    const ProcessEnd end = blame({told, kToldNothing});
    INFO(
        "rank 1 reports that it waited for rank 2, 50 ms after rank 0's deadline; rank 0 "
        "reads until 100 ms after it, `grace`; rank 0: "
        << how(end));
    CHECK(contains(how(end), "rank 1 waited for rank 2; rank 2 is silent"));
    CHECK(seconds_of(end) <= 2.11);
}

TEST_CASE("a notice counts where there is no report", "[lab17][lab17.2]") {
    const ProcessEnd end =
        blame({waits_for(4), kToldNothing, kToldNothing, kToldNothing});
    INFO("rank 1 has not failed, but its notice says that it waits for rank 4; rank 0: "
         << how(end));
    CHECK(contains(how(end), "rank 1 waits for rank 4; rank 4 is silent"));
    CHECK(seconds_of(end) <= 2.11);

    Told told = reports(Kind::kTimeout, 2, "late");
    told.awaited = 3;
    const ProcessEnd both = blame({told, kToldNothing, kToldNothing});
    INFO(
        "rank 1's notice says that it waits for rank 3; its report, which is later, that "
        "it waited for rank 2; rank 0: "
        << how(both));
    CHECK(contains(how(both), "rank 1 waited for rank 2; rank 2 is silent"));

    const ProcessEnd ours = blame({waits_for(0)});
    INFO(
        "rank 1's notice says that it waits for rank 0, which waits for rank 1: rank 0 "
        "knows that it is in the collective, so it names rank 1; rank 0: "
        << how(ours));
    CHECK(contains(how(ours), "rank 1 is silent"));
}

TEST_CASE("ranks that wait for each other are named once, and the search ends",
          "[lab17][lab17.2]") {
    const ProcessEnd inner =
        blame({reports(Kind::kTimeout, 2, "late"), waits_for(3), waits_for(2)});
    INFO("rank 1 waited for 2, 2 waits for 3, 3 waits for 2; rank 0: " << how(inner));
    CHECK(contains(how(inner),
                   "rank 2 waits for rank 3; rank 3 waits for rank 2: these "
                   "ranks wait for each other"));

    const ProcessEnd whole = blame({reports(Kind::kTimeout, 0, "late")});
    INFO("rank 1 reports that it waited for rank 0; rank 0: " << how(whole));
    CHECK(contains(how(whole), "rank 1 waited for rank 0: these ranks wait for each"));
}

TEST_CASE("a report that names no rank of the group is not followed",
          "[lab17][lab17.2]") {
    const ProcessEnd end = blame({reports(Kind::kTimeout, 99, "late")});
    INFO("rank 1 reports that it waited for rank 99 of 5; rank 0: " << how(end));
    CHECK(contains(how(end), "Timeout: rank 0 waited 2 s for rank 1; rank 1 is silent"));

    const ProcessEnd noticed = blame({waits_for(99)});
    INFO("rank 1's notice says that it waits for rank 99; rank 0: " << how(noticed));
    CHECK(contains(how(noticed), "rank 0 waited 2 s for rank 1; rank 1 is silent"));
}
