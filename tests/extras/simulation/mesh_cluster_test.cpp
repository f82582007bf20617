// The mesh transport and its failure detector on simulated ranks: the real code, on
// simulated connections and in virtual time.

#include "libmini/extras/simulation/process_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/all_reduce.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::dist {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::contains;
using How = ProcessEnd::How;
using Kind = Failure::Kind;

constexpr milliseconds kTimeout(2000);
constexpr size_t kCount = 1000;

// All-reduces `count` ones, `calls` times; throws Error if a sum is wrong.
void all_reduce_ones(GroupTransport& transport, int calls, size_t count = kCount) {
    for (int call = 0; call < calls; ++call) {
        std::vector<float> data(count, 1.0f);
        transport.begin({.operation = Operation::kAllReduce,
                         .count = count,
                         .sequence = static_cast<uint64_t>(call)},
                        kTimeout);
        ring_all_reduce(transport, Elements(std::span(data)), ReduceOp::kSum);
        const std::vector<float> sums(count, static_cast<float>(transport.world_size()));
        if (data != sums) throw Error("wrong sum");
    }
}

struct Job {
    explicit Job(int world_size, uint64_t seed = 0)
        : cluster(world_size, parse_links("10Gbit,20us"), seed) {}

    ProcessCluster cluster;
    std::vector<ProcessEnd> ends;

    /// Runs a job of three all-reduces, and calls `fault` before step `step`.
    void play(size_t step, const std::function<void(ProcessCluster&)>& fault) {
        cluster.set_on_step([this, step, fault](size_t now) {
            if (now == step) fault(cluster);
        });
        ends = run_mesh(cluster,
                        [](GroupTransport& transport) { all_reduce_ones(transport, 3); });
    }

    const ProcessEnd& end(int rank) const { return ends[static_cast<size_t>(rank)]; }
    const std::string& message(int rank) const { return end(rank).failure->message; }
};

TEST_CASE("if a simulated rank is stopped, all other ranks time out and name it") {
    Job job(5);
    job.play(60, [](ProcessCluster& cluster) { cluster.pause(3, hours(1)); });
    for (const int rank : {0, 1, 2, 4}) {
        CAPTURE(rank);
        REQUIRE(job.end(rank).how == How::kThrew);
        CHECK(job.end(rank).failure->kind == Kind::kTimeout);
        CHECK(contains(job.message(rank), "rank 3 is silent"));
        CHECK(job.end(rank).time >= kTimeout);
        CHECK(job.end(rank).time <= kTimeout * 1.1 + milliseconds(10));
    }
    REQUIRE(job.end(3).how == How::kThrew);  // rank 3 wakes up: no peer is left
    CHECK(job.end(3).time >= hours(1));
}

TEST_CASE("bytes that are held arrive when they are released") {
    ProcessCluster cluster(3, parse_links("10Gbit,20us"), 0);
    VirtualTime released{};
    cluster.set_on_step([&](size_t step) {
        if (step == 0) {
            cluster.hold(0, 1);
            cluster.slow_down(2, milliseconds(100));
        }
        if (cluster.now() < milliseconds(300) || released.count() > 0) return;
        cluster.release(0, 1);
        released = cluster.now();
    });
    for (const ProcessEnd& end : run_mesh(
             cluster, [](GroupTransport& transport) { all_reduce_ones(transport, 2); }))
        CHECK(end.how == How::kReturned);
    CHECK(released >= milliseconds(300));
    CHECK(cluster.now() > released);
}

// A bug that `fault_search` found: ranks outside a cycle of waiting ranks
// followed the cycle several times, and then reported that one of its ranks was silent.
TEST_CASE("an error for a cycle of waiting ranks names each rank of the cycle once") {
    Job job(4);
    job.play(0, [](ProcessCluster& cluster) { cluster.hold(3, 0); });
    int circles = 0;
    for (int rank = 0; rank < 4; ++rank) {
        CAPTURE(rank);
        REQUIRE(job.end(rank).how == How::kThrew);
        const std::string& message = job.message(rank);
        CAPTURE(message);
        CHECK((contains(message, "rank 3 is silent") ||
               contains(message, "these ranks wait for each other")));
        circles += contains(message, "these ranks wait for each other");
        for (const char* const hop : {"rank 0 waited for", "rank 1 waited for",
                                      "rank 2 waited for", "rank 3 waited for"})
            CHECK(message.find(hop) == message.rfind(hop));
    }
    CHECK(circles > 0);
}

// A bug that `fault_search` found: the ranks searched for 250 ms without a pause.
TEST_CASE("ranks that search for the rank that was lost first pause between two checks") {
    size_t most = 0;
    for (size_t step = 20; step < 120; step += 5) {
        Job job(3, step);
        job.play(step, [](ProcessCluster& cluster) { cluster.kill(0, Loss::kHalf); });
        for (const int rank : {1, 2}) CHECK(job.end(rank).how == How::kThrew);
        most = std::max(most, job.cluster.steps());
    }
    CHECK(most < 5000);
}

}  // namespace
}  // namespace mini::dist
