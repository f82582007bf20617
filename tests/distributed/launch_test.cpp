// run_threads: ranks as threads, and which rank's failure run_threads throws.

#include "libmini/distributed/launch/launch.hpp"
#include "libmini/distributed/launch/default_group.hpp"

#include <atomic>
#include <string>

#include "libmini/core/log.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

TEST_CASE(
    "run_threads gives each thread its rank, its default group and its log prefix") {
    std::atomic<int> ranks = 0, right = 0;
    run_threads(4, [&](ProcessGroup& group) {
        ranks += 1 << group.rank();
        if (default_group().get() == &group && get_rank() == logging::rank() &&
            get_world_size() == 4 && group.backend() == "threads")
            ++right;
    });
    CHECK(ranks == 15);
    CHECK(right == 4);
    CHECK_FALSE(is_initialized());
}

TEST_CASE("run_threads throws the root cause and not the PeerLost of other ranks") {
    const int failing = GENERATE(0, 1, 2);
    std::atomic<int> peers_lost = 0;
    const auto body = [&](ProcessGroup& group) {
        group.barrier();
        if (group.rank() == failing) throw UsageError("the root cause");
        try {
            group.all_reduce(Tensor::ones({1000}));
        } catch (const PeerLost&) {
            ++peers_lost;
            throw;
        }
    };
    CHECK(failure_of([&] { run_threads(3, body); }) == "UsageError: the root cause");
    CHECK(peers_lost == 2);
}

TEST_CASE("the PeerLost on other ranks names the failed rank and its reason") {
    std::string error;
    const auto body = [&](ProcessGroup& group) {
        if (group.rank() == 1) throw Error("out of luck");
        error = failure_of([&] { group.barrier(); });
    };
    CHECK(failure_of([&] { run_threads(2, body); }) == "Error: out of luck");
    CHECK(error == "PeerLost(1): rank 1 failed: out of luck; rank 0 was in barrier #0");
}

TEST_CASE("a rank that returns early is a PeerLost on ranks that still need it") {
    const auto body = [&](ProcessGroup& group) {
        if (group.rank() == 2) return;
        group.barrier();
    };
    const std::string text = failure_of([&] { run_threads(3, body); });
    CAPTURE(text);
    CHECK(contains(text, "PeerLost(2)"));
    CHECK(contains(text, "rank 2 left the group"));
}

TEST_CASE("a ProcessGroupGuard ends the group with its scope, once") {
    const bool is_over = GENERATE(false, true);
    {
        const ProcessGroupGuard group(
            {.init_method = "tcp://127.0.0.1:0", .rank = 0, .world_size = 1});
        CHECK(default_group().get() == &*group);
        if (is_over) destroy_process_group();
    }
    CHECK_FALSE(is_initialized());
}

TEST_CASE("run_threads needs at least one rank") {
    CHECK(
        contains(failure_of([] { run_threads(0, [](ProcessGroup&) {}); }), "UsageError"));
}
