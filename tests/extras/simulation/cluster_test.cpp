// The simulated cluster: the time of a message, the ports of hosts, and the end of a run.
// emulated_network_test.cpp has messages that queue at the ports of ranks.

#include "libmini/extras/simulation/cluster.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

namespace mini::dist {
namespace {

using std::chrono::microseconds;
using test::contains;
using test::message_of;

// 1,000 bytes take 1 us at 8 Gbit a second.
constexpr size_t kBytes = 1000;
constexpr const char* kLinks = "8Gbit,10us";

using Buffer = std::vector<std::byte>;

ClusterOptions options_of(int world_size, const std::string& links = kLinks) {
    return {.world_size = world_size, .links = parse_links(links)};
}

TEST_CASE("a message takes bytes / rate plus the delay") {
    const auto report = run_cluster(options_of(2), [](Transport& transport) {
        Buffer data(kBytes, std::byte(transport.rank() + 1));
        if (transport.rank() == 0) return transport.send(1, data);
        transport.recv(0, data);
        CHECK(data == Buffer(kBytes, std::byte(1)));
    });
    CHECK(report.end[0] == microseconds(1));  // a sender is free when the bytes have left
    CHECK(report.end[1] == microseconds(11));
    CHECK(report.time == microseconds(11));
    CHECK(report.sent == std::vector<Traffic>{{1, kBytes}, {0, 0}});
    CHECK(report.messages_left == 0);
}

TEST_CASE("a rank that slept receives the messages that arrived while it slept") {
    const auto report = run_cluster(options_of(2), [](SimulatedTransport& transport) {
        Buffer data(kBytes);
        if (transport.rank() == 0) return transport.send(1, data);
        transport.sleep_until(microseconds(50));
        CHECK(transport.now() == microseconds(50));
        transport.sleep_until(microseconds(20));  // in the past
        transport.recv(0, data);
    });
    CHECK(report.end[0] == microseconds(1));  // the message left although rank 1 slept
    CHECK(report.end[1] == microseconds(50));
}

TEST_CASE(
    "ranks of one host share the link to other hosts but not the links inside the host") {
    const std::string links = "8Gbit,10us; hosts of 2: 8Gbit,1us";
    const auto to_other_host = [&](int shift) {
        return run_cluster(options_of(4, links), [shift](Transport& transport) {
            Buffer data(kBytes), in(kBytes);
            const int peer = transport.rank() ^ shift;
            transport.send_recv(peer, data, peer, in);
        });
    };
    CHECK(to_other_host(2).time ==
          microseconds(12));                          // two messages, one after the other
    CHECK(to_other_host(1).time == microseconds(2));  // within the host: both at once
}

TEST_CASE("the send and the receive of send_recv overlap, and combining takes no time") {
    const auto add = [](std::byte* mine, const std::byte* theirs, size_t count) {
        for (size_t i = 0; i < count; ++i)
            mine[i] = std::byte(std::to_integer<int>(mine[i]) +
                                std::to_integer<int>(theirs[i]));
    };
    const auto report = run_cluster(options_of(2), [&](Transport& transport) {
        const int peer = 1 - transport.rank();
        Buffer out(kBytes, std::byte(10)), in(kBytes, std::byte(1));
        transport.send_recv(peer, out, peer, in, {.apply = add, .element_bytes = 1});
        CHECK(in == Buffer(kBytes, std::byte(11)));
        transport.send_recv(peer, out, peer, in);
        CHECK(in == out);
    });
    CHECK(report.time == microseconds(11 + 11));
}

TEST_CASE(
    "messages between two ranks arrive in order and can arrive before their receives, "
    "and "
    "the sender may change its buffer") {
    run_cluster(options_of(3), [](Transport& transport) {
        Buffer one(1, std::byte(transport.rank() * 10));
        if (transport.rank() > 0) {
            transport.send(0, one);
            one[0] |= std::byte(1);
            transport.send(0, one);
            one[0] = std::byte(0);
            return;
        }
        Buffer data(4);
        const auto bytes = std::span(data);
        transport.recv(2, bytes.subspan(0, 1));
        transport.recv(2, bytes.subspan(1, 1));
        transport.recv(1, bytes.subspan(2, 1));
        transport.recv(1, bytes.subspan(3, 1));
        CHECK(data == Buffer{std::byte(20), std::byte(21), std::byte(10), std::byte(11)});
    });
}

TEST_CASE(
    "without payload the times and counts are the same and buffers are not written") {
    const auto run = [](bool has_payload) {
        ClusterOptions options = options_of(4);
        options.has_payload = has_payload;
        return run_cluster(options, [&](Transport& transport) {
            Buffer out(kBytes, std::byte(1)), in(kBytes, std::byte(9));
            const int P = transport.world_size(), rank = transport.rank();
            transport.send_recv((rank + 1) % P, out, (rank + P - 1) % P, in);
            CHECK(in == Buffer(kBytes, std::byte(has_payload ? 1 : 9)));
        });
    };
    CHECK(run(true).end == run(false).end);
    CHECK(run(true).sent == run(false).sent);
}

TEST_CASE("the seed changes the order of ranks but no virtual time") {
    std::vector<std::vector<int>> orders;
    std::vector<ClusterReport> reports;
    for (const uint64_t seed : {1, 1, 2}) {
        std::vector<int>& order = orders.emplace_back();
        ClusterOptions options = options_of(6, "8Gbit,10us; hosts of 3: 80Gbit,1us");
        options.seed = seed;
        reports.push_back(run_cluster(options, [&](Transport& transport) {
            order.push_back(transport.rank());
            Buffer data(kBytes);
            if (transport.rank() > 0) return transport.send(0, data);
            for (int from = 1; from < 6; ++from) transport.recv(from, data);
        }));
    }
    CHECK(orders[0] == orders[1]);
    CHECK(orders[0] != orders[2]);
    CHECK(reports[0].end == reports[1].end);
    CHECK(reports[0].end == reports[2].end);
}

TEST_CASE("the error for a deadlock lists what each rank waits for, up to eight") {
    const auto deadlock_of = [](int P) {
        ClusterOptions options = options_of(P);
        options.seed = 42;
        return message_of([&] {
            run_cluster(options, [P](Transport& transport) {
                Buffer data(kBytes);
                if (transport.rank() == P - 1) return;
                transport.recv(transport.rank() + 1, data);
            });
        });
    };
    const std::string message = deadlock_of(3);
    CHECK(contains(message, "deadlock after 0 us of virtual time (seed 42)"));
    CHECK(contains(message, "rank 0 receives from rank 1, rank 1 receives from rank 2"));
    CHECK_FALSE(contains(message, "rank 2 receives"));
    CHECK(contains(deadlock_of(101),
                   "rank 7 receives from rank 8, and 92 more ranks wait"));
}

TEST_CASE("a message whose size differs from its receive is an error with both sizes") {
    const std::string message = message_of([] {
        run_cluster(options_of(2), [](Transport& transport) {
            Buffer data(transport.rank() == 0 ? 8 : 12);
            if (transport.rank() == 0) return transport.send(1, data);
            transport.recv(0, data);
        });
    });
    CHECK(contains(message, "rank 0 sent 8 bytes where rank 1 expects 12"));
}

TEST_CASE(
    "a rank that catches an error and sends again is not woken by its earlier message") {
    const auto report = run_cluster(options_of(2), [](Transport& transport) {
        Buffer data(kBytes), wrong(1);
        if (transport.rank() == 1) {
            transport.send(0, wrong);
            transport.recv(0, data);
            return transport.recv(0, data);
        }
        Buffer longer(5 * kBytes);
        CHECK_THROWS_AS(transport.send_recv(1, data, 1, longer), Error);
        transport.send(1, data);
    });
    CHECK(report.end[0] == VirtualTime(microseconds(11)) + VirtualTime(1000));
    CHECK(report.messages_left == 1);
}

TEST_CASE("a rank outside the cluster and the rank itself are invalid peers") {
    for (const int peer : {-1, 0, 2})
        CHECK(contains(
            message_of([&] {
                run_cluster(options_of(2), [&](Transport& transport) {
                    Buffer data(1);
                    if (transport.rank() == 0) transport.send(peer, data);
                });
            }),
            "rank 0 of 2 cannot send to, or receive from, rank " + std::to_string(peer)));
    CHECK(contains(message_of<UsageError>([] { run_cluster(options_of(0), {}); }),
                   "the world size is 0"));
}

}  // namespace
}  // namespace mini::dist
