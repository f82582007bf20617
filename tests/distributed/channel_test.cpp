// Channels: bytes arrive unchanged and in order, in pieces of any size; a sleeping side
// is woken; a closed side is detected.

#include "libmini/distributed/transport/channel.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"
#include "libmini/distributed/transport/shared_memory.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/socket_pair.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

struct Pair {
    std::unique_ptr<Channel> a, b;
};

// Two connected channels: "socket", "heap" (rings in this process's memory), or "shared"
// (rings in shared memory that each side has mapped).
Pair make_pair(const std::string& kind) {
    auto [one, other] = mini::test::socket_pair();
    if (kind == "socket")
        return {std::make_unique<SocketChannel>(std::move(one)),
                std::make_unique<SocketChannel>(std::move(other))};
    std::shared_ptr<Memory> first, second;
    if (kind == "heap") {
        first = second = std::make_shared<Memory>(-1, RingChannel::memory_bytes());
    } else {
        NewSharedMemory shared = make_shared_memory(RingChannel::memory_bytes());
        first = shared.memory;
        second = map_shared_memory(::getpid(), shared.descriptor.fd(),
                                   RingChannel::memory_bytes());
    }
    return {
        std::make_unique<RingChannel>(std::move(one), first, RingChannel::Side::kFirst),
        std::make_unique<RingChannel>(std::move(other), second,
                                      RingChannel::Side::kSecond)};
}

void sleep_until(Channel& channel, Channel::Interest interest) {
    pollfd entry{channel.socket().fd(), 0, 0};
    if (channel.prepare_to_sleep(interest, entry.events)) ::poll(&entry, 1, 30'000);
    channel.wake_up(entry.revents);
}

std::byte byte_at(size_t i) { return static_cast<std::byte>(i * 2654435761u >> 13); }

constexpr size_t kTotal = 5'000'000;

void send_all_bytes(Channel& channel, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(kTotal);
    for (size_t i = 0; i < kTotal; ++i) bytes[i] = byte_at(i);
    for (size_t sent = 0; sent < kTotal;) {
        const size_t rest = kTotal - sent;
        const size_t head = std::min<size_t>(rest, random() % 50);
        const size_t body = std::min<size_t>(rest - head, random() % 300'000);
        const auto part = std::span(bytes).subspan(sent, head + body);
        const size_t n = channel.send_some(part.first(head), part.subspan(head));
        if (n == 0 && head + body > 0) sleep_until(channel, Channel::kToSend);
        sent += n;
    }
}

}  // namespace

TEST_CASE("a channel delivers bytes unchanged and in order in pieces of any size") {
    const std::string kind = GENERATE("socket", "heap", "shared");
    const uint32_t seed = GENERATE(1u, 2u);
    CAPTURE(kind, seed);
    Pair pair = make_pair(kind);
    std::thread sender([&] { send_all_bytes(*pair.a, seed); });
    std::mt19937 random(seed + 100);
    std::vector<std::byte> got(kTotal);
    for (size_t received = 0; received < kTotal;) {
        const size_t wanted = std::min<size_t>(kTotal - received, 1 + random() % 200'000);
        const size_t n = pair.b->recv_some(std::span(got).subspan(received, wanted));
        if (n == 0) sleep_until(*pair.b, Channel::kToReceive);
        received += n;
    }
    sender.join();
    size_t wrong = 0;
    for (size_t i = 0; i < kTotal; ++i) wrong += got[i] != byte_at(i);
    CHECK(wrong == 0);
}

TEST_CASE("recv_combine combines whole elements, even across the end of a ring") {
    const std::string kind = GENERATE("socket", "heap", "shared");
    const size_t shift = static_cast<size_t>(GENERATE(0, 1, 3, 7));
    CAPTURE(kind, shift);
    Pair pair = make_pair(kind);
    constexpr size_t kNumbers = 400'000;  // several times the ring's capacity
    std::vector<int64_t> theirs(kNumbers), mine(kNumbers);
    for (size_t i = 0; i < kNumbers; ++i) {
        theirs[i] = static_cast<int64_t>(i * i);
        mine[i] = static_cast<int64_t>(i);
    }
    std::thread sender([&] {
        // Send a few bytes first, so that the numbers are not aligned in the ring.
        const std::vector<std::byte> before(shift);
        const auto bytes = std::as_bytes(std::span(theirs));
        for (size_t sent = 0; sent < shift + bytes.size();) {
            const auto head = std::span(before).subspan(std::min(sent, shift));
            const size_t done = sent > shift ? sent - shift : 0;
            const size_t piece = std::min<size_t>(bytes.size() - done, 10'007);
            const size_t n = pair.a->send_some(head, bytes.subspan(done, piece));
            if (n == 0) sleep_until(*pair.a, Channel::kToSend);
            sent += n;
        }
    });
    std::vector<std::byte> before(shift);
    for (size_t received = 0; received < shift;)
        received += pair.b->recv_some(std::span(before).subspan(received));
    const Combine add = combine_for(DType::kInt64, ReduceOp::kSum);
    const auto place = std::as_writable_bytes(std::span(mine));
    for (size_t done = 0; done < place.size();) {
        const size_t n = pair.b->recv_combine(place.subspan(done), add);
        if (n == 0) sleep_until(*pair.b, Channel::kToReceive);
        REQUIRE(n % sizeof(int64_t) == 0);
        done += n;
    }
    sender.join();
    size_t wrong = 0;
    for (size_t i = 0; i < kNumbers; ++i)
        wrong += mine[i] != static_cast<int64_t>(i + i * i);
    CHECK(wrong == 0);
}

TEST_CASE("all bytes sent before the close are received before the close is reported") {
    const std::string kind = GENERATE("socket", "heap", "shared");
    CAPTURE(kind);
    Pair pair = make_pair(kind);
    const std::vector<std::byte> bytes(100, std::byte{7});
    REQUIRE(pair.a->send_some(bytes, {}) == 100);
    pair.a = nullptr;
    std::vector<std::byte> got(200);
    size_t received = 0;
    std::string text;
    while (text.empty()) {
        text = failure_of([&] {
            const size_t n = pair.b->recv_some(std::span(got).subspan(received));
            if (n == 0) sleep_until(*pair.b, Channel::kToReceive);
            received += n;
        });
    }
    CHECK(received == 100);
    CHECK(contains(text, "closed the connection"));
}

TEST_CASE(
    "a TCP channel's sent bytes arrive although the channel closed with unread bytes") {
    const Socket door = listen_on({"127.0.0.1", 0});
    auto sender = std::make_unique<SocketChannel>(
        connect_to(local_address(door), deadline_after(kLong)));
    Socket end;
    while (!end.is_open()) end = accept_from(door);
    SocketChannel receiver(std::move(end));

    // Fill all socket buffers, leave bytes unread, and close.
    const std::vector<std::byte> large(1 << 20), few(48);
    size_t sent = 0, idle = 0;
    while (idle < 100) {
        const size_t n = sender->send_some({}, large);
        sent += n;
        idle = n > 0 ? 0 : idle + 1;
        if (n == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    REQUIRE(receiver.send_some({}, few) == few.size());
    REQUIRE(wait_for(sender->socket(), POLLIN, deadline_after(kLong)));
    sender = nullptr;

    size_t received = 0;
    std::vector<std::byte> place(1 << 20);
    const std::string text = failure_of([&] {
        while (true) {
            received += receiver.recv_some(place);
            wait_for(receiver.socket(), POLLIN, deadline_after(kLong));
        }
    });
    CHECK(received == sent);
    CHECK(contains(text, "the other side closed the connection"));
}

TEST_CASE("a blocked sender detects that the reader is gone") {
    const std::string kind = GENERATE("socket", "heap", "shared");
    CAPTURE(kind);
    Pair pair = make_pair(kind);
    const std::vector<std::byte> bytes(1 << 20);
    while (pair.a->send_some(bytes, {}) > 0) {
    }
    pair.b = nullptr;
    std::string text;
    while (text.empty()) {
        text = failure_of([&] {
            sleep_until(*pair.a, Channel::kToSend);
            pair.a->send_some(bytes, {});
        });
    }
    CHECK(text != "");
}

namespace {

// Sends pieces of `bytes` until there is no room. Returns the number of bytes sent.
size_t send_all_that_fits(Channel& channel, std::span<const std::byte> bytes) {
    size_t sent = 0;
    while (const size_t n = channel.send_some({}, bytes.subspan(sent))) sent += n;
    return sent;
}

}  // namespace

TEST_CASE("the channels of a rank need little memory even with many ranks on a host") {
    for (int ranks = 2; ranks <= 256; ++ranks) {
        CAPTURE(ranks);
        const size_t pairs = static_cast<size_t>(ranks) - 1;
        CHECK(pairs * RingChannel::memory_bytes(ranks) < size_t{12} << 20);
    }
    for (const int ranks : {8, 16, 17, 256}) {
        CAPTURE(ranks);
        auto [one, other] = mini::test::socket_pair();
        const auto memory =
            std::make_shared<Memory>(-1, RingChannel::memory_bytes(ranks));
        RingChannel first(std::move(one), memory, RingChannel::Side::kFirst, ranks);
        RingChannel second(std::move(other), memory, RingChannel::Side::kSecond, ranks);
        // Fill both rings, then read the bytes.
        const std::vector<std::byte> ones(1 << 20, std::byte{1}),
            twos(1 << 20, std::byte{2});
        const size_t to_second = send_all_that_fits(first, ones);
        const size_t to_first = send_all_that_fits(second, twos);
        CHECK(to_second == to_first);
        CHECK(to_second >= 16 << 10);
        std::vector<std::byte> got(to_second);
        CHECK(second.recv_some(got) == to_second);
        CHECK(got == std::vector<std::byte>(to_second, std::byte{1}));
        CHECK(first.recv_some(got) == to_first);
        CHECK(got == std::vector<std::byte>(to_first, std::byte{2}));
    }
}

TEST_CASE("map_shared_memory rejects other memory and a descriptor that is not open") {
    const NewSharedMemory small = make_shared_memory(4096);
    const auto failure = [](int descriptor) {
        return failure_of([=] {
            map_shared_memory(::getpid(), descriptor, RingChannel::memory_bytes());
        });
    };
    CHECK(contains(failure(small.descriptor.fd()), "has 4096 bytes where"));
    CHECK(contains(failure(-1), "No such file or directory; --medium tcp needs no"));
}
