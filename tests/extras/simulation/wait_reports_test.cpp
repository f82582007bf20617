// The reports that ranks send while they wait, in virtual time. Rank 0 of three is a
// MeshTransport; scripts act as ranks 1 and 2 at the other ends of its connections.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using test::contains;

constexpr milliseconds kWaitTimeout(8000);
constexpr size_t kMessageBytes = 100;

using Script = std::function<void(const Socket&)>;

void send_to_rank_0(const Socket& socket, const auto& bytes) {
    send_all(socket, std::as_bytes(std::span(bytes)), deadline_after(kWaitTimeout));
}

// Receives kMessageBytes from rank 1 on rank 0, while ranks 1 and 2 run their scripts.
// Returns how rank 0 ended.
ProcessEnd receive_from_rank_1(const Script& rank_1, const Script& rank_2) {
    ProcessCluster cluster(3, parse_links("10Gbit,20us"), 0);
    std::vector<MessageStream> streams(1);
    std::vector<Socket> peers(1);
    for (const int peer : {1, 2}) {
        auto [mine, theirs] = cluster.system().connect_pair(0, peer);
        streams.emplace_back(std::make_unique<SocketChannel>(std::move(mine)));
        peers.push_back(std::move(theirs));
    }
    const auto run_rank_0 = [&] {
        MeshTransport transport(0, std::move(streams));
        transport.begin({}, kWaitTimeout);
        std::vector<std::byte> in(kMessageBytes);
        transport.recv(1, in);
    };
    const auto ends = cluster.run([&](int rank) {
        if (rank == 0) return run_rank_0();
        (rank == 1 ? rank_1 : rank_2)(peers[static_cast<size_t>(rank)]);
    });
    peers.clear();
    return ends[0];
}

MessageHeader waits_for(int rank) {
    MessageHeader header;
    header.kind = MessageHeader::Kind::kWaiting;
    header.rank = rank;
    return header;
}

const Script kDoesNothing = [](const Socket&) {};

TEST_CASE("a rank that has reported its wait for another rank is not called silent") {
    std::vector<MessageHeader> sent = {waits_for(2)};
    std::string silent = "rank 1 waits for rank 2; rank 2 is silent";

    SECTION("the rank that it waits for is silent") {}
    SECTION("a report from another collective is ignored") {
        sent[0].collective.sequence = 99;
        silent = "rank 0 waited 8 s for rank 1 in barrier #0; rank 1 is silent";
    }
    SECTION("the rank has then reported that its wait is over") {
        sent.push_back(waits_for(-1));
        silent = "rank 0 waited 8 s for rank 1 in barrier #0; rank 1 is silent";
    }

    const ProcessEnd end = receive_from_rank_1(
        [&](const Socket& socket) { send_to_rank_0(socket, sent); }, kDoesNothing);
    REQUIRE(end.failure);
    CHECK(end.failure->kind == Failure::Kind::kTimeout);
    CHECK(contains(end.failure->message, silent));
}

TEST_CASE("a chain of waiting ranks ends at a rank that reported a failure and left") {
    const std::string reason = "rank 2 waited for a connection from rank 3";
    const auto leave = [&](const Socket& socket) {
        const std::string report = to_text(Failure{Failure::Kind::kTimeout, -1, reason});
        MessageHeader header;
        header.kind = MessageHeader::Kind::kFailure;
        header.payload_bytes = report.size();
        send_to_rank_0(socket, std::vector<MessageHeader>{header});
        send_to_rank_0(socket, report);
    };
    const ProcessEnd end = receive_from_rank_1(
        [](const Socket& socket) {
            send_to_rank_0(socket, std::vector<MessageHeader>{waits_for(2)});
        },
        leave);
    REQUIRE(end.failure);
    CHECK(end.failure->kind == Failure::Kind::kTimeout);
    CHECK(end.failure->message == "rank 2 reports: " + reason);
}

TEST_CASE(
    "a rank reports its wait halfway to the deadline and later the end of the wait") {
    std::vector<MessageHeader> received(2);
    std::vector<Deadline> when(2);
    Deadline start, sent;
    const auto listen = [&](const Socket& socket) {
        start = Clock::now();
        for (size_t i = 0; i < received.size(); ++i) {
            recv_all(socket, std::as_writable_bytes(std::span(received).subspan(i, 1)),
                     deadline_after(kWaitTimeout));
            when[i] = Clock::now();
        }
    };
    const auto send_late = [&](const Socket& socket) {
        sleep_for(kWaitTimeout * 3 / 4);
        MessageHeader header;
        header.payload_bytes = kMessageBytes;
        sent = Clock::now();
        send_to_rank_0(socket, std::vector<MessageHeader>{header});
        send_to_rank_0(socket, std::string(kMessageBytes, 'x'));
    };
    const ProcessEnd end = receive_from_rank_1(send_late, listen);
    CHECK(end.how == ProcessEnd::How::kReturned);
    for (const MessageHeader& each : received)
        CHECK(each.kind == MessageHeader::Kind::kWaiting);
    CHECK(received[0].rank == 1);
    CHECK(received[1].rank == -1);
    constexpr milliseconds kTravel(1);
    CHECK(when[0] - start >= kWaitTimeout / 2);
    CHECK(when[0] - start <= kWaitTimeout / 2 + kTravel);
    CHECK(when[1] >= sent);
    CHECK(when[1] - sent <= kTravel);
}

}  // namespace
}  // namespace mini::dist
