// The checks of lab 17, task 17.1: the rank that an error names. First blame() alone, then in
// libmini's FailureDetector. All times are virtual.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "labs/17-faults-and-checkpoints/test_support.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/blame.hpp"
#include "libmini/distributed/transport/failure_detector.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::lab17;
using std::chrono::hours;
using std::chrono::milliseconds;
using Kind = Failure::Kind;

namespace {

// ---- blame() alone

constexpr int kWorld = 5;

// Calls blame() on rank 0 of five, which has waited for rank 1. Throws if it asks rank 0, a
// rank that does not exist, or a rank twice: libmini waits for each answer. Stores the ranks
// that it asks.
Failure blamed(const std::map<int, Told>& told, std::vector<int>* asked = nullptr,
               int silent = 1, int rank = 0) {
    std::vector<int> ranks;
    const Failure failure = mini::dist::blame(
        rank, kWorld, silent, concat("rank ", rank, " waited 2 s for rank ", silent),
        [&](int other) {
            MINI_CHECK(other != rank, "blame() asks what this rank itself has told");
            MINI_CHECK(other >= 0 && other < kWorld, "blame() asks rank ", other,
                       " of ranks 0 to 4");
            MINI_CHECK(std::ranges::count(ranks, other) == 0, "blame() asks rank ", other,
                       " twice: does it go round a circle?");
            ranks.push_back(other);
            const auto found = told.find(other);
            return found == told.end() ? Told{} : found->second;
        });
    if (asked != nullptr) *asked = ranks;
    return failure;
}

Told report(Kind kind, int rank, const std::string& message) {
    Told told;
    told.report = {kind, rank, message};
    return told;
}

Told waited(int rank) { return report(Kind::kTimeout, rank, "late"); }

Told notice(int rank) {
    Told told;
    told.waits_for = rank;
    return told;
}

// Returns the failure as the checks compare it: "Timeout 3" and so on.
std::string kind_and_rank(const Failure& failure) {
    constexpr const char* kNames[] = {"PeerLost", "Timeout", "Mismatch", "Other"};
    return concat(kNames[static_cast<size_t>(failure.kind)], " ", failure.rank);
}

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

// ---- in libmini's detector

// What one rank tells rank 0.
struct Tells {
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

constexpr int kDetecting = 5;  // ranks

// Reports to rank 0 as FailureDetector::leave does, or closes the connection.
void tell(MessageStream& rank_0, const Tells& told) {
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
ProcessEnd detect(const std::vector<Tells>& told) {
    ProcessCluster cluster(kDetecting, parse_links(kLinks), 1);
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

Tells reports(Kind kind, int rank, std::string message) {
    Tells told;
    told.report = {kind, rank, std::move(message)};
    return told;
}

Tells waits_for(int rank) {
    Tells told;
    told.awaited = rank;
    return told;
}

Tells closes(Tells told) {
    told.closes = true;
    return told;
}

const Tells kTellsNothing{};

}  // namespace

// ---- blame() alone

TEST_CASE("a rank that has told nothing is the cause", "[lab17][lab17.1]") {
    const Failure failure = blamed({});
    CHECK(kind_and_rank(failure) == "Timeout 1");
    CHECK_THAT(failure.message,
               ContainsSubstring(
                   "rank 0 waited 2 s for rank 1; rank 1 is silent: is its process "
                   "stopped, stuck, or in other code?"));
    CHECK(kind_and_rank(blamed({}, nullptr, 2, 4)) == "Timeout 2");
}

TEST_CASE("a rank that waited for another rank is not the cause", "[lab17][lab17.1]") {
    std::vector<int> asked;
    const Failure failure = blamed({{1, waited(2)}, {2, waited(4)}}, &asked);
    INFO("rank 1 waited for rank 2, rank 2 for rank 4, and rank 4 has told nothing");
    CHECK(kind_and_rank(failure) == "Timeout 4");
    CHECK_THAT(
        failure.message,
        ContainsSubstring(
            "rank 0 waited 2 s for rank 1; rank 1 waited for rank 2; rank 2 waited "
            "for rank 4; rank 4 is silent"));
    INFO("only the ranks of the chain are asked: libmini waits for each answer");
    CHECK(asked == std::vector<int>{1, 2, 4});
}

TEST_CASE("a notice counts where there is no report", "[lab17][lab17.1]") {
    const Failure failure = blamed({{1, notice(4)}});
    INFO("rank 1 has not failed, but its notice says that it waits for rank 4");
    CHECK(kind_and_rank(failure) == "Timeout 4");
    CHECK_THAT(failure.message,
               ContainsSubstring("; rank 1 waits for rank 4; rank 4 is silent"));

    Told both = waited(2);
    both.waits_for = 3;
    INFO(
        "rank 1's notice says that it waits for rank 3; its report, which is later, "
        "that");
    INFO("it waited for rank 2");
    CHECK(kind_and_rank(blamed({{1, both}})) == "Timeout 2");
    CHECK_THAT(blamed({{1, both}}).message,
               ContainsSubstring("rank 1 waited for rank 2; rank 2 is"));
}

TEST_CASE("a rank that is gone is lost", "[lab17][lab17.1]") {
    Told gone;
    gone.is_gone = true;
    CHECK(kind_and_rank(blamed({{1, gone}})) == "PeerLost 1");
    CHECK_THAT(blamed({{1, gone}}).message,
               ContainsSubstring("rank 1 is gone (rank 0 waited 2 s for rank 1)"));
    const Failure second = blamed({{1, waited(3)}, {3, gone}});
    INFO("rank 1 waited for rank 3, which is gone");
    CHECK(kind_and_rank(second) == "PeerLost 3");
    CHECK_THAT(second.message,
               ContainsSubstring("rank 3 is gone (rank 0 waited 2 s for rank 1; rank 1 "
                                 "waited for rank 3)"));
    gone.waits_for = 4;
    INFO("rank 1 sent a notice before it was gone");
    CHECK(kind_and_rank(blamed({{1, gone}})) == "PeerLost 1");
}

TEST_CASE("another report than a timeout that names a rank ends the chain",
          "[lab17][lab17.1]") {
    Told lost = report(Kind::kPeerLost, 3, "rank 3 is gone");
    lost.waits_for = 2;
    INFO("rank 1 reports PeerLost(3)");
    CHECK(kind_and_rank(blamed({{1, lost}})) == "PeerLost 3");
    CHECK(blamed({{1, lost}}).message == "rank 1 reports: rank 3 is gone");

    const Told other = report(Kind::kOther, -1, "no memory");
    INFO("rank 1 waited for rank 2, which reports that it has no memory");
    CHECK(kind_and_rank(blamed({{1, waited(2)}, {2, other}})) == "PeerLost 2");
    CHECK(blamed({{1, waited(2)}, {2, other}}).message == "rank 2 failed: no memory");

    const Told mismatch = report(Kind::kMismatch, 2, "rank 1 runs a barrier");
    CHECK(kind_and_rank(blamed({{1, mismatch}})) == "Mismatch 2");

    const Told any = report(Kind::kTimeout, -1, "rank 1 waited for any rank");
    INFO("rank 1 reports a Timeout that names no rank");
    CHECK(kind_and_rank(blamed({{1, any}})) == "Timeout -1");
    CHECK(blamed({{1, any}}).message == "rank 1 reports: rank 1 waited for any rank");
}

TEST_CASE("an old notice that names this rank is not believed", "[lab17][lab17.1]") {
    INFO("rank 1's notice says that it waits for rank 0, which waits for rank 1: rank 0");
    INFO("knows that it is in the collective, so it names rank 1");
    CHECK(kind_and_rank(blamed({{1, notice(0)}})) == "Timeout 1");
    INFO("the same, two ranks further");
    CHECK(kind_and_rank(blamed({{1, waited(2)}, {2, notice(0)}})) == "Timeout 2");
    CHECK(kind_and_rank(blamed({{2, notice(3)}}, nullptr, 2, 3)) == "Timeout 2");
}

TEST_CASE("ranks that wait for each other are a circle", "[lab17][lab17.1]") {
    const Failure inner = blamed({{1, waited(2)}, {2, notice(3)}, {3, notice(2)}});
    INFO("rank 1 waited for 2, 2 waits for 3, 3 waits for 2");
    CHECK(kind_and_rank(inner) == "Timeout -1");
    CHECK_THAT(inner.message,
               ContainsSubstring("rank 2 waits for rank 3; rank 3 waits for rank 2: "
                                 "these ranks wait for each other"));

    const Failure whole = blamed({{1, waited(0)}});
    INFO("rank 1 reports that it waited for rank 0: a report is final");
    CHECK(kind_and_rank(whole) == "Timeout -1");
    CHECK_THAT(whole.message,
               ContainsSubstring("rank 1 waited for rank 0: these ranks wait for each"));
    CHECK(kind_and_rank(blamed({{1, waited(1)}})) == "Timeout -1");
}

TEST_CASE("a rank that does not exist is not followed", "[lab17][lab17.1]") {
    INFO("rank 1 names rank 5, or rank 99, of the ranks 0 to 4: rank 1 is the cause");
    for (const int other : {kWorld, 99}) {
        CHECK(kind_and_rank(blamed({{1, waited(other)}})) == "Timeout 1");
        CHECK(kind_and_rank(blamed({{1, notice(other)}})) == "Timeout 1");
    }
    INFO("a notice of -1 says that the wait is over");
    CHECK(kind_and_rank(blamed({{1, notice(-1)}})) == "Timeout 1");
}

// ---- in libmini's detector

TEST_CASE("a wait ends at its deadline, and all ranks name the stopped rank",
          "[lab17][lab17.1]") {
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
            REQUIRE_THAT(how(end),
                         ContainsSubstring(concat("rank ", stopped, " is silent")));
            CHECK(end.failure->kind == Kind::kTimeout);
            CHECK(seconds_of(end) >= 2);
            CHECK(seconds_of(end) <= 2.21);
        }
    }
}

TEST_CASE("a report may come within a twentieth of the timeout after the deadline",
          "[lab17][lab17.1]") {
    Tells told = reports(Kind::kTimeout, 2, "late");
    told.after = kTimeout + milliseconds(50);
    const ProcessEnd end = detect({told, kTellsNothing});
    INFO(
        "rank 1 reports that it waited for rank 2, 50 ms after rank 0's deadline; rank 0 "
        "reads until 100 ms after it, `grace`; rank 0: "
        << how(end));
    CHECK_THAT(how(end), ContainsSubstring("rank 1 waited for rank 2; rank 2 is silent"));
    CHECK(seconds_of(end) <= 2.11);
}

TEST_CASE("a rank whose connection is closed is gone", "[lab17][lab17.1]") {
    const ProcessEnd end = detect({closes(kTellsNothing)});
    INFO("rank 1 has closed its connection, without a report; rank 0: " << how(end));
    CHECK_THAT(how(end), ContainsSubstring("PeerLost(1): rank 1 is gone (rank 0 waited"));

    const ProcessEnd noticed = detect({closes(waits_for(4))});
    INFO("the same, but before rank 1 told that it waits for rank 4; rank 0: "
         << how(noticed));
    CHECK_THAT(how(noticed),
               ContainsSubstring("PeerLost(1): rank 1 is gone (rank 0 waited"));
}

TEST_CASE("the detector follows reports and notices", "[lab17][lab17.1]") {
    const ProcessEnd end =
        detect({reports(Kind::kTimeout, 2, "late"), waits_for(3), kTellsNothing});
    INFO("rank 1 waited for rank 2, rank 2 waits for rank 3; rank 0: " << how(end));
    CHECK_THAT(how(end),
               ContainsSubstring(
                   "rank 1 waited for rank 2; rank 2 waits for rank 3; rank 3 is"));
    CHECK(seconds_of(end) <= 2.11);
}
