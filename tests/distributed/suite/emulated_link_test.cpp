// EmulatedLink: when bytes arrive, on a clock that the test sets.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/emulated_link.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/set_time.hpp"
#include "tests/support/socket_pair.hpp"

using namespace mini;
using namespace mini::dist;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

// Returns one rank's end of a link to another rank.
std::unique_ptr<EmulatedLink> link_end(
    Socket socket, const std::string& spec,
    const std::shared_ptr<RankPorts>& ports = std::make_shared<RankPorts>()) {
    return std::make_unique<EmulatedLink>(
        std::make_unique<SocketChannel>(std::move(socket)), parse_links(spec).network,
        ports);
}

// The two ends of a link of 1 MB/s and 10 ms, and their clock.
struct Line {
    explicit Line(const std::string& spec = "8Mbit,10ms") {
        auto [one, other] = mini::test::socket_pair();
        near = link_end(std::move(one), spec);
        far = link_end(std::move(other), spec);
    }

    size_t send(size_t n) { return near->send_some({}, std::vector<std::byte>(n)); }
    size_t receive() { return far->recv_some(buffer); }

    mini::test::SetTime clock;
    Deadline& now = clock.time;
    std::unique_ptr<EmulatedLink> near, far;
    std::vector<std::byte> buffer = std::vector<std::byte>(1 << 20);
};

// Rank 0 and its links of 1 MB/s and 10 ms to two other ranks, and their clock.
struct Fork {
    Fork() {
        const auto hub_ports = std::make_shared<RankPorts>();
        for (size_t i = 0; i < 2; ++i) {
            auto [one, other] = mini::test::socket_pair();
            hub[i] = link_end(std::move(one), "8Mbit,10ms", hub_ports);
            leaf[i] = link_end(std::move(other), "8Mbit,10ms");
        }
    }

    static size_t send(EmulatedLink& from, size_t n) {
        return from.send_some({}, std::vector<std::byte>(n));
    }
    size_t receive(EmulatedLink& at) { return at.recv_some(buffer); }

    // Returns whether `at` receives no byte before `time` after the start, and `n` bytes
    // at that time.
    bool arrives_at(EmulatedLink& at, std::chrono::microseconds time, size_t n) {
        now = start + time - microseconds(1);
        if (receive(at) != 0) return false;
        now = start + time;
        return receive(at) == n;
    }

    mini::test::SetTime clock;
    Deadline& now = clock.time;
    const Deadline start = now;
    std::array<std::unique_ptr<EmulatedLink>, 2> hub, leaf;
    std::vector<std::byte> buffer = std::vector<std::byte>(1 << 20);
};

}  // namespace

TEST_CASE("bytes arrive exactly after the transmission time plus the delay") {
    Line line;
    REQUIRE(line.send(1000) == 1000);  // 1 ms to send, 10 ms delay
    CHECK(line.receive() == 0);
    line.now += microseconds(10'999);
    CHECK(line.receive() == 0);
    line.now += microseconds(1);
    CHECK(line.receive() == 1000);
    CHECK(line.receive() == 0);
}

TEST_CASE("a second message waits until the first is sent but not until it arrives") {
    Line line;
    REQUIRE(line.send(1000) == 1000);
    REQUIRE(line.send(500) == 500);
    line.now += milliseconds(11);
    CHECK(line.receive() == 1000);
    line.now += microseconds(500);
    CHECK(line.receive() == 500);
}

TEST_CASE("a message of several frames takes bytes / rate plus one delay") {
    Line line("80Mbit,10ms");  // a frame of 16 KiB takes 1.6384 ms
    REQUIRE(line.send(40'000) == 16'384);
    REQUIRE(line.send(23'616) == 16'384);
    line.now += microseconds(1277);  // 2 ms before the second frame has left
    REQUIRE(line.send(7'232) == 7'232);
    line.now += microseconds(4000 + 10'000 - 1277 - 1);
    CHECK(line.receive() == 32'768);
    line.now += microseconds(1);
    CHECK(line.receive() == 7'232);
}

TEST_CASE("messages of one rank to two other ranks queue at the sender's out port") {
    Fork fork;
    REQUIRE(Fork::send(*fork.hub[0], 1000) == 1000);
    REQUIRE(Fork::send(*fork.hub[1], 500) == 500);
    CHECK(fork.arrives_at(*fork.leaf[0], microseconds(11'000), 1000));
    CHECK(fork.arrives_at(*fork.leaf[1], microseconds(11'500), 500));
}

TEST_CASE("a rank with a full out port cannot send until the link catches up") {
    for (const size_t peer : {0, 1}) {
        Fork fork;
        REQUIRE(Fork::send(*fork.hub[0], 10'000) == 10'000);  // 10 ms at this rate
        CHECK(Fork::send(*fork.hub[peer], 1) == 0);
        short events = 0;
        CHECK(fork.hub[peer]->prepare_to_sleep(Channel::kToSend, events));
        CHECK(fork.hub[peer]->next_event() > fork.now);
        fork.now = fork.hub[peer]->next_event();
        CHECK(Fork::send(*fork.hub[peer], 1) == 1);
    }
}

TEST_CASE("messages of two ranks to a third rank queue at the receiver's in port") {
    Fork fork;
    REQUIRE(Fork::send(*fork.leaf[0], 1000) == 1000);
    REQUIRE(Fork::send(*fork.leaf[1], 1000) == 1000);
    CHECK(fork.receive(*fork.hub[0]) == 0);
    CHECK(fork.receive(*fork.hub[1]) == 0);
    CHECK(fork.arrives_at(*fork.hub[0], microseconds(11'000), 1000));
    CHECK(fork.arrives_at(*fork.hub[1], microseconds(12'000), 1000));
}

TEST_CASE("a rank sends and receives at the full rate at the same time") {
    Fork fork;
    REQUIRE(Fork::send(*fork.hub[0], 1000) == 1000);
    REQUIRE(Fork::send(*fork.leaf[0], 1000) == 1000);
    CHECK(fork.receive(*fork.hub[0]) == 0);
    CHECK(fork.receive(*fork.leaf[0]) == 0);
    fork.now += microseconds(11'000);
    CHECK(fork.receive(*fork.hub[0]) == 1000);
    CHECK(fork.receive(*fork.leaf[0]) == 1000);
}

TEST_CASE(
    "a frame that is read late passes the in port at the time at which it arrived") {
    Fork fork;
    REQUIRE(Fork::send(*fork.leaf[0], 1000) == 1000);
    fork.now += milliseconds(5);
    REQUIRE(Fork::send(*fork.leaf[1], 1000) == 1000);
    CHECK(fork.receive(*fork.hub[1]) == 0);  // this frame is read first
    CHECK(fork.arrives_at(*fork.hub[0], microseconds(11'000), 1000));
    CHECK(fork.arrives_at(*fork.hub[1], microseconds(16'000), 1000));
}

TEST_CASE("a frame with an impossible time closes the link") {
    auto [one, other] = mini::test::socket_pair();
    const mini::test::SetTime clock;
    const auto far = link_end(std::move(other), "1kbit");
    const std::array<int64_t, 2> frame = {INT64_MAX, 4};
    send_some(one, std::as_bytes(std::span(frame)));
    std::vector<std::byte> buffer(16);
    CHECK_THROWS_AS(far->recv_some(buffer), ConnectionClosed);
}

TEST_CASE("the long-run throughput of a link is its rate") {
    Line line("8Mbit");
    size_t received = 0;
    for (int tick = 0; tick < 1000; ++tick) {
        while (line.send(5000) > 0) {
        }
        line.now += milliseconds(1);
        received += line.receive();
    }
    CHECK(received > 980'000);  // 1 MB/s for a second; one frame may be in flight
    CHECK(received <= 1'000'000);
}

TEST_CASE("next_event is the arrival time of bytes in flight") {
    Line line;
    REQUIRE(line.send(1000) == 1000);
    CHECK(line.receive() == 0);
    short events = 0;
    CHECK(line.far->prepare_to_sleep(Channel::kToReceive, events));
    CHECK(line.far->next_event() == line.now + milliseconds(11));
    line.now = line.far->next_event();
    CHECK(!line.far->prepare_to_sleep(Channel::kToReceive, events));
}

TEST_CASE("bytes that were sent before the connection closed arrive before the close") {
    Line line;
    REQUIRE(line.send(1000) == 1000);
    line.near.reset();
    CHECK(line.receive() == 0);
    line.now += milliseconds(11);
    CHECK(line.receive() == 1000);
    CHECK_THROWS_AS(line.receive(), ConnectionClosed);
}

TEST_CASE(
    "bytes that become due while a receive reads the clock arrive before the close") {
    // Each read of the clock advances it by 100 us. Depending on `first`, the bytes
    // become due between another two reads.
    for (int first = 0; first < 4; ++first) {
        CAPTURE(first);
        Line line("8Mbit,1ms");
        line.clock.tick = microseconds(100);
        line.now += microseconds(100) * first;
        REQUIRE(line.send(10) == 10);
        line.near.reset();
        size_t received = 0;
        for (int looks = 0; received == 0 && looks < 1000; ++looks)
            received = line.receive();
        CHECK(received == 10);
        CHECK_THROWS_AS(line.receive(), ConnectionClosed);
    }
}

TEST_CASE("recv_combine combines whole elements, even an element that two frames share") {
    Line line;
    const Combine add{[](std::byte* mine, const std::byte* theirs, size_t count) {
                          for (size_t i = 0; i < 4 * count; ++i)
                              mine[i] =
                                  static_cast<std::byte>(std::to_integer<int>(mine[i]) +
                                                         std::to_integer<int>(theirs[i]));
                      },
                      4};
    const std::vector<std::byte> out(8, std::byte{2});
    REQUIRE(line.near->send_some({}, std::span(out).first(3)) == 3);
    REQUIRE(line.near->send_some({}, std::span(out).last(5)) == 5);
    std::vector<std::byte> sum(8, std::byte{1});
    line.now += microseconds(10'003);
    CHECK(line.far->recv_combine(sum, add) == 0);
    line.now += milliseconds(1);
    CHECK(line.far->recv_combine(sum, add) == 8);
    CHECK(sum == std::vector<std::byte>(8, std::byte{3}));
}
