// The checks of lab 17, task 17.2: monitored_barrier, in virtual time.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "labs/17-faults-and-checkpoints/test_support.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/net/clock.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::lab17;
using std::chrono::milliseconds;

namespace {

constexpr int kPort = 29500;

// Runs a barrier on every rank. before(rank) runs between the rendezvous and the barrier.
Ends run_barrier(int world_size, bool all,
                 const std::function<void(ProcessCluster&, int rank)>& before) {
    ProcessCluster cluster(world_size, parse_links(kLinks), 2);
    return finished(cluster.run([&](int rank) {
        const RendezvousConfig config{
            {cluster.system().address_of(0), kPort}, rank, world_size};
        const auto group = make_ring_group(config, Medium::kTcp, 10 * kTimeout);
        before(cluster, rank);
        monitored_barrier(*group, {.timeout = kTimeout, .wait_all_ranks = all});
    }));
}

const std::function<void(ProcessCluster&, int)> kNothing = [](ProcessCluster&, int) {};

}  // namespace

TEST_CASE("a monitored_barrier lets all ranks pass, after the last has arrived",
          "[lab17][lab17.2]") {
    for (const int world_size : {1, 2, 3, 4, 7}) {
        const Ends on_time = run_barrier(world_size, false, kNothing);
        INFO(world_size << " ranks arrive at once" << story(on_time));
        for (const ProcessEnd& end : on_time) CHECK(how(end) == "returned");

        const int late = world_size - 1;
        const Ends ends = run_barrier(world_size, false, [&](ProcessCluster&, int rank) {
            if (rank == late) sleep_for(kTimeout * 9 / 10);
        });
        INFO("rank " << late << " arrives after 1.8 s of 2 s" << story(ends));
        for (const ProcessEnd& end : ends) {
            CHECK(how(end) == "returned");
            CHECK(seconds_of(end) >= 1.8);
        }
    }
}

TEST_CASE("rank 0 may wait for the whole timeout, and the others wait for rank 0",
          "[lab17][lab17.2]") {
    const Ends ends = run_barrier(3, false, [](ProcessCluster&, int rank) {
        if (rank == 0) sleep_for(kTimeout * 9 / 10);
        if (rank == 2) sleep_for(kTimeout * 18 / 10);
    });
    INFO(
        "rank 1 arrives at once, rank 0 after 1.8 s, rank 2 after 3.6 s: each within 2 s "
        "of rank 0, so all pass. Rank 1 has then waited 3.6 s for its release"
        << story(ends));
    for (const ProcessEnd& end : ends) CHECK(how(end) == "returned");
}

TEST_CASE("a rank gives up after two timeouts if rank 0 never comes",
          "[lab17][lab17.2]") {
    const Ends ends = run_barrier(2, false, [](ProcessCluster&, int rank) {
        if (rank == 0) sleep_for(20 * kTimeout);
    });
    INFO(
        "rank 0 sleeps; rank 1's wait ends after 4 s, two timeouts. Then it looks "
        "for the culprit, for a twentieth of these 4 s, whatever the group's timeout is"
        << story(ends));
    CHECK_THAT(how(ends[1]), ContainsSubstring("rank 0 is silent"));
    CHECK(seconds_of(ends[1]) >= 4);
    CHECK(seconds_of(ends[1]) <= 4.3);
}

TEST_CASE("rank 0 names the lowest missing rank, or all of them", "[lab17][lab17.2]") {
    for (const bool all : {false, true}) {
        const Ends ends = run_barrier(5, all, [](ProcessCluster&, int rank) {
            if (rank == 2 || rank == 4) sleep_for(20 * kTimeout);
        });
        INFO("ranks 2 and 4 of 5 sleep; wait_all_ranks is " << (all ? "true" : "false")
                                                            << story(ends));
        CHECK_THAT(
            how(ends[0]),
            ContainsSubstring(
                all ? "Timeout: monitored_barrier: rank 2, 4 did not reach it in 2 s"
                    : "Timeout: monitored_barrier: rank 2 did not reach it in 2 s"));
        for (const size_t rank : {1u, 3u}) {
            INFO("rank " << rank
                         << " must not pass: a rank is missing. It learns this from rank "
                            "0, and looks for the culprit for at most 0.2 s");
            CHECK(how(ends[rank]) != "returned");
            CHECK(seconds_of(ends[rank]) <= 2.3);
        }
    }
}

TEST_CASE("the timeout holds for all missing ranks together", "[lab17][lab17.2]") {
    const Ends ends = run_barrier(5, true, [](ProcessCluster&, int rank) {
        if (rank > 0) sleep_for(20 * kTimeout);
    });
    INFO(
        "four ranks are missing: rank 0 must throw after 2 s, not after 2 s for each; "
        "hint 1 of 17.2 helps"
        << story(ends));
    CHECK_THAT(how(ends[0]), ContainsSubstring("rank 1, 2, 3, 4 did not reach it"));
    CHECK(seconds_of(ends[0]) < 2 * 2);  // four timeouts would be 8 s
}

TEST_CASE("a rank that died is lost, not late", "[lab17][lab17.2]") {
    const Ends ends = run_barrier(4, true, [](ProcessCluster& cluster, int rank) {
        if (rank == 0)
            cluster.at(milliseconds(500), [&] { cluster.kill(3, Loss::kNone); });
        if (rank == 3) sleep_for(20 * kTimeout);
    });
    INFO(
        "rank 3 is killed after 0.5 s, before it arrives: rank 0 must report PeerLost "
        "at once, and not add rank 3 to the ranks that are late"
        << story(ends));
    CHECK_THAT(how(ends[0]), ContainsSubstring("PeerLost(3)"));
    CHECK(seconds_of(ends[0]) < 1);
}
