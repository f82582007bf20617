// The TCP store: what it keeps, whom it lets wait, and whom it drops.

#include <poll.h>

#include <future>

#include "libmini/dist/tcp_store.hpp"
#include "libmini/dist/tcp_store_server.hpp"
#include "tests/dist/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

Cookie cookie_of(uint8_t value) {
    Cookie cookie;
    cookie.fill(std::byte{value});
    return cookie;
}

struct Fixture {
    TcpStoreServer server{{"127.0.0.1", 0}, cookie_of(7)};
    TcpStore store{server.address(), cookie_of(7), deadline_after(kLong)};

    TcpStore another() { return {server.address(), cookie_of(7), deadline_after(kLong)}; }
};

// Whether the server closes this connection before the deadline.
bool is_dropped(const Socket& socket) {
    std::byte buffer[64];
    const Deadline deadline = deadline_after(kLong);
    try {
        while (wait_for(socket, POLLIN, deadline)) recv_some(socket, buffer);
    } catch (const ConnectionClosed&) {
        return true;
    }
    return false;
}

}  // namespace

TEST_CASE("the store keeps what was set, bytes of any value and the empty value too") {
    Fixture f;
    const std::string bytes("\0\xff\n a", 5);
    f.store.set("key", bytes);
    f.store.set("empty", "");
    CHECK(f.another().get("key", deadline_after(kLong)) == bytes);
    CHECK(f.store.get("empty", deadline_after(kLong)).empty());
    f.store.set("key", "new");
    CHECK(f.store.get("key", deadline_after(kLong)) == "new");
    CHECK(f.store.check("key"));
    CHECK_FALSE(f.store.check("nobody set this"));
}

TEST_CASE("get and wait end when another client sets the key") {
    Fixture f;
    TcpStore other = f.another();
    auto value = std::async(std::launch::async, [&] {
        other.wait({"a", "b"}, deadline_after(kLong));
        return other.get("c", deadline_after(kLong));
    });
    f.store.set("b", "2");
    f.store.set("a", "1");
    f.store.set("c", "3");
    CHECK(value.get() == "3");
}

TEST_CASE("add is atomic: many clients never see one sum twice") {
    Fixture f;
    constexpr int kClients = 4, kCalls = 50;
    std::vector<std::vector<int64_t>> sums(kClients);
    const auto failures = on_ranks(kClients, [&](int client) {
        TcpStore store = f.another();
        for (int i = 0; i < kCalls; ++i)
            sums[static_cast<size_t>(client)].push_back(store.add("counter", 1));
    });
    for (const auto& failure : failures) CHECK(text_of(failure).empty());
    std::vector<int64_t> all, expected;
    for (const auto& part : sums) all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end());
    for (int i = 1; i <= kClients * kCalls; ++i) expected.push_back(i);
    CHECK(all == expected);
    CHECK(f.store.get("counter", deadline_after(kLong)) ==
          std::to_string(kClients * kCalls));
}

TEST_CASE("add refuses a value that is no number, and the store goes on") {
    Fixture f;
    f.store.set("word", "seven");
    CHECK(contains(failure_of([&] { f.store.add("word", 1); }), "\"word\" is no number"));
    CHECK(f.store.add("number", 5) == 5);
}

TEST_CASE("a wait that times out names the missing keys and only those") {
    Fixture f;
    f.store.set("here", "1");
    const std::string text = failure_of([&] {
        f.store.wait({"gone1", "here", "gone2"}, deadline_after(milliseconds(30)));
    });
    CAPTURE(text);
    CHECK(contains(text, "Timeout"));
    CHECK(contains(text, "gone1, gone2 (1 of 3 keys are there)"));
}

TEST_CASE("after a get timed out its late answer is not taken for the next one") {
    Fixture f;
    const std::string text =
        failure_of([&] { f.store.get("late", deadline_after(milliseconds(20))); });
    CHECK(contains(text, "Timeout: the key \"late\""));
    f.another().set("late", "answer to the first question");
    f.store.set("other", "right");
    CHECK(f.store.get("other", deadline_after(kLong)) == "right");
}

TEST_CASE("keys and values over the caps are refused before they are sent") {
    Fixture f;
    CHECK(
        contains(failure_of([&] { f.store.set(std::string(65537, 'k'), ""); }), "65536"));
    CHECK(contains(
        failure_of([&] { f.store.set("big", std::string((16 << 20) + 1, 'v')); }),
        "16777216"));
    f.store.set("big", std::string(16 << 20, 'v'));
    CHECK(f.store.get("big", deadline_after(kLong)).size() == 16 << 20);
}

TEST_CASE("garbage, half a hello and oversized requests are dropped and harm nobody") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7),
                          {.hello_time = milliseconds(50)});
    TcpStore store(server.address(), cookie_of(7), deadline_after(kLong));
    const auto send_text = [&](const std::string& text) {
        Socket socket = connect_to(server.address(), deadline_after(kLong));
        send_all(socket, std::as_bytes(std::span(text)), deadline_after(kLong));
        return socket;
    };

    SECTION("garbage") { CHECK(is_dropped(send_text(std::string(1000, 'x')))); }
    SECTION("a browser") {
        CHECK(is_dropped(
            send_text("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n")));
    }
    SECTION("half a hello, then silence") { CHECK(is_dropped(send_text("libmini\n"))); }
    SECTION("silence") { CHECK(is_dropped(send_text(""))); }
    SECTION("a request that claims 4 GiB") {
        const Hello hello = make_hello(Hello::Purpose::kStore, cookie_of(7), 1, 2);
        const protocol::Request request{1, protocol::Command::kSet, 1, 0xffffffffu};
        std::string text(reinterpret_cast<const char*>(&hello), sizeof hello);
        text.append(reinterpret_cast<const char*>(&request), sizeof request);
        CHECK(is_dropped(send_text(text)));
    }
    SECTION("a command that does not exist") {
        const Hello hello = make_hello(Hello::Purpose::kStore, cookie_of(7), 1, 2);
        const protocol::Request request{1, static_cast<protocol::Command>(99), 0, 0};
        std::string text(reinterpret_cast<const char*>(&hello), sizeof hello);
        text.append(reinterpret_cast<const char*>(&request), sizeof request);
        CHECK(is_dropped(send_text(text)));
    }
    store.set("still", "there");
    CHECK(store.get("still", deadline_after(kLong)) == "there");
}

TEST_CASE("one connection too many is closed, and the others stay") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7), {.connections = 1});
    TcpStore store(server.address(), cookie_of(7), deadline_after(kLong));
    CHECK(is_dropped(connect_to(server.address(), deadline_after(kLong))));
    store.set("key", "value");
    CHECK(store.check("key"));
}

TEST_CASE("a client with another run's cookie is refused with a hint") {
    Fixture f;
    const std::string text = failure_of(
        [&] { TcpStore(f.server.address(), cookie_of(8), deadline_after(kLong)); });
    CAPTURE(text);
    CHECK(contains(text, to_text(f.server.address())));
    CHECK(contains(text, "MINI_STORE_COOKIE"));
}

TEST_CASE(
    "a busy port is an error that names the address, the reason and the next step") {
    Fixture f;
    const std::string text =
        failure_of([&] { TcpStoreServer(f.server.address(), cookie_of(7)); });
    CAPTURE(text);
    CHECK(contains(text, to_text(f.server.address())));
    CHECK(contains(text, "Address already in use"));
    CHECK(contains(text, "choose another port"));
}

TEST_CASE("when the keeper of the store is gone its clients hear that rank 0 is lost") {
    auto server = std::make_unique<TcpStoreServer>(Address{"127.0.0.1", 0}, cookie_of(7));
    TcpStore store(server->address(), cookie_of(7), deadline_after(kLong));
    auto waiting = std::async(std::launch::async, [&] {
        return failure_of([&] { store.get("never", deadline_after(kLong)); });
    });
    server = nullptr;
    CHECK(contains(waiting.get(), "PeerLost(0)"));
}

TEST_CASE("nobody at the store's address is a Timeout that names it") {
    const Address address{"127.0.0.1", free_port()};
    const std::string text = failure_of(
        [&] { TcpStore(address, Cookie{}, deadline_after(milliseconds(30))); });
    CHECK(contains(text, "Timeout: no connection to " + to_text(address)));
    CHECK(contains(text, "Connection refused"));
}

TEST_CASE("addresses are read and written with numbers, names and IPv6 brackets") {
    CHECK(parse_address("127.0.0.1:29500").port == 29500);
    CHECK(parse_address("[::1]:80").host == "::1");
    CHECK(to_text(parse_address("[::1]:80")) == "[::1]:80");
    CHECK(parse_address("localhost:1").host == "localhost");
    CHECK(
        contains(failure_of([] { parse_address("localhost"); }), "port number missing"));
    CHECK(contains(failure_of([] { parse_address("[::1]"); }), "port number missing"));
    CHECK(
        contains(failure_of([] { parse_address("localhost:"); }), "port number missing"));
    CHECK(contains(failure_of([] { parse_address("a:65536"); }), "0 .. 65535"));
    CHECK(contains(failure_of([] { parse_address("a:1x"); }), "0 .. 65535"));
    CHECK(contains(failure_of([] { parse_address(":1"); }), "host name missing"));
}

TEST_CASE("a cookie is 32 hexadecimal digits and nothing else") {
    CHECK(parse_cookie("000102030405060708090a0b0c0d0e0F")[15] == std::byte{15});
    CHECK(contains(failure_of([] { parse_cookie(std::string(31, '0')); }),
                   "32 hexadecimal"));
    CHECK(contains(failure_of([] { parse_cookie(std::string(32, 'g')); }),
                   "32 hexadecimal"));
    CHECK(contains(failure_of([] { parse_cookie("-1" + std::string(30, '0')); }),
                   "32 hex"));
}
