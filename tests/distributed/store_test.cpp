// TcpStore and its server: values, waiting clients, and dropped connections.

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/written.hpp"

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

std::string text_of_hello(uint8_t cookie) {
    const Hello hello = make_hello(Hello::Role::kStoreClient, cookie_of(cookie), 1, 0);
    return {reinterpret_cast<const char*>(&hello), sizeof hello};
}

// Blocks until the server closes this connection. Returns false if the connection is
// still open after kLong.
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

TEST_CASE(
    "clients that send an invalid hello or request are dropped and harm no other "
    "client") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7), milliseconds(1000));
    TcpStore store(server.address(), cookie_of(7), deadline_after(kLong));
    const auto send_text = [&](const std::string& text) {
        Socket socket = connect_to(server.address(), deadline_after(kLong));
        send_all(socket, std::as_bytes(std::span(text)), deadline_after(kLong));
        return socket;
    };

    const auto request = [](protocol::Command command, uint32_t value_bytes) {
        const protocol::RequestHead head{1, command, 1, value_bytes};
        return text_of_hello(7) +
               std::string(reinterpret_cast<const char*>(&head), sizeof head);
    };
    std::vector<Socket> clients;
    for (const std::string& text :
         {std::string(1000, 'x'),
          std::string("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"),
          std::string("libmini\n"), std::string(),  // then no more bytes
          request(protocol::Command::kSet, 0xffffffffu),
          request(static_cast<protocol::Command>(99), 0)})
        clients.push_back(send_text(text));
    for (const Socket& client : clients) CHECK(is_dropped(client));
    store.set("still", "there");
    CHECK(store.get("still", deadline_after(kLong)) == "there");
}

TEST_CASE(
    "the server counts connections and wait_until_alone waits for clients to leave") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7));
    {
        TcpStore store(server.address(), cookie_of(7), deadline_after(kLong));
        store.set("a", "1");
        store.check("a");
        failure_of(
            [&] { TcpStore(server.address(), cookie_of(8), deadline_after(kLong)); });
        // The client may get the rejection before the server has counted the connection.
        while (server.counters().dropped == 0) std::this_thread::yield();
        const StoreCounters& now = server.counters();
        CHECK(now.clients == 1);
        CHECK(now.dropped == 1);
        CHECK(now.connected_clients == 1);
        CHECK_FALSE(server.wait_until_alone(deadline_after(milliseconds(10))));
    }
    CHECK(server.wait_until_alone(deadline_after(kLong)));
}

TEST_CASE("the store listens only on its own address") {
    Fixture f;
    CHECK(f.server.address().host == "127.0.0.1");

    // The port is free on every other address of the machine, such as 127.0.0.2.
    const Socket other_socket = listen_on({"127.0.0.2", f.server.address().port});
    CHECK(other_socket.is_open());
}

TEST_CASE("a client with another run's cookie is rejected with a hint") {
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

TEST_CASE("if the server of the store has ended its clients throw PeerLost for rank 0") {
    auto server = std::make_unique<TcpStoreServer>(Address{"127.0.0.1", 0}, cookie_of(7));
    TcpStore store(server->address(), cookie_of(7), deadline_after(kLong));
    auto waiting = std::async(std::launch::async, [&] {
        return failure_of([&] { store.get("never", deadline_after(kLong)); });
    });
    server = nullptr;
    CHECK(contains(waiting.get(), "PeerLost(0)"));
}

TEST_CASE("without a server TcpStore throws Timeout naming the address") {
    const Address address{"127.0.0.1", free_port()};
    const std::string text = failure_of(
        [&] { TcpStore(address, Cookie{}, deadline_after(milliseconds(30))); });
    CHECK(contains(text, "Timeout: no connection to " + to_text(address)));
    CHECK(contains(text, "Connection refused"));
}

TEST_CASE("a held port is not given to a socket that asks for any port") {
    Socket held = reserve_port({"127.0.0.1", 0});
    const Address held_address = local_address(held);
    CHECK(held_address.port != local_address(reserve_port({"127.0.0.1", 0})).port);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(held_address.port));
    const auto bind_without_naming_reuse = [&] {
        const Socket other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return ::bind(other.fd(), reinterpret_cast<const sockaddr*>(&address),
                      sizeof address);
    };
    CHECK(bind_without_naming_reuse() == -1);
    { const Socket named = listen_on(held_address); }
    CHECK(bind_without_naming_reuse() == -1);
    held = Socket();
    CHECK(bind_without_naming_reuse() == 0);
    CHECK(contains(failure_of([] {
                       reserve_port({"192.0.2.1", 0});
                   }),
                   "cannot listen on 192.0.2.1:0: bind failed: "));
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

namespace {

constexpr size_t kMaxGrowth = (mini::test::kSanitized ? 500 : 10) << 20;

// A client that calls the store without pause until it is stopped.
class BusyJob {
  public:
    explicit BusyJob(const TcpStoreServer& server)
        : store_(server.address(), cookie_of(7), deadline_after(kLong)),
          calls_(std::async(std::launch::async, [this] {
              int64_t calls = 0;
              while (!stop_) MINI_CHECK(store_.add("n", 1) == ++calls, "a lost call");
              return calls;
          })) {}

    // Stops the calls; returns their number. Throws Error if a call had a wrong result.
    int64_t finish() {
        stop_ = true;
        return calls_.get();
    }

  private:
    TcpStore store_;
    std::atomic<bool> stop_ = false;
    std::future<int64_t> calls_;
};

}  // namespace

TEST_CASE(
    "a thousand connections do not harm a running job and new clients can connect") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7));
    BusyJob job(server);
    const size_t before = resident_bytes();
    std::vector<Socket> silent;
    for (int i = 0; i < 400; ++i)
        silent.push_back(connect_to(server.address(), deadline_after(kLong)));
    TcpStore late(server.address(), cookie_of(7), deadline_after(kLong));
    for (int i = 0; i < 600; ++i)
        send_text(connect_to(server.address(), deadline_after(kLong)),
                  i % 2 ? text_of_hello(8) : std::string(1000, 'x'));
    late.set("still", "there");
    CHECK(late.get("still", deadline_after(kLong)) == "there");

    // The server accepts all connections, a few at a time, and drops all except those
    // that still have time to send a hello.
    const Deadline deadline = deadline_after(kLong);
    while (server.counters().dropped < 900 && !has_passed(deadline))
        std::this_thread::yield();
    CHECK(server.counters().dropped >= 900);
    CHECK(server.counters().clients == 2);
    CHECK(job.finish() > 0);
    CHECK(resident_bytes() < before + kMaxGrowth);
}

TEST_CASE("a hello that arrives byte by byte is dropped at its deadline") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7), milliseconds(1000));
    BusyJob job(server);
    const Socket slow = connect_to(server.address(), deadline_after(kLong));
    const std::string hello = text_of_hello(7);
    auto sending = std::async(std::launch::async, [&] {
        for (const char c : hello.substr(1)) {
            send_text(slow, std::string(1, c));
            std::byte byte;
            if (!wait_for(slow, POLLIN, deadline_after(milliseconds(200)))) continue;
            try {
                recv_some(slow, std::span(&byte, 1));
            } catch (const ConnectionClosed&) {
                return true;
            }
        }
        return false;
    });
    CHECK(sending.get());
    CHECK(job.finish() > 0);
    CHECK(server.counters().dropped == 1);
}

TEST_CASE("random frames after a valid hello break only their own connection") {
    TcpStoreServer server({"127.0.0.1", 0}, cookie_of(7));
    BusyJob job(server);
    const size_t before = resident_bytes();
    std::mt19937 random(1);
    Socket socket;
    int closed = 0;
    for (int i = 0; i < 10'000; ++i) {
        if (!socket.is_open() || i % 100 == 0) {
            socket = connect_to(server.address(), deadline_after(kLong));
            send_text(socket, text_of_hello(7));
        }

        // Half of the frames have plausible sizes and a command from 0 to 9, most of
        // which are valid.
        std::string frame(sizeof(protocol::RequestHead) + random() % 64, '\0');
        for (char& c : frame) c = static_cast<char>(random());
        const auto command = static_cast<protocol::Command>(random() % 10);
        const auto key_bytes = static_cast<uint32_t>(random() % 16);
        const protocol::RequestHead likely{1, command, key_bytes, 2 * key_bytes};
        if (i % 2) std::memcpy(frame.data(), &likely, sizeof likely);
        try {
            send_all(socket, std::as_bytes(std::span(frame)), deadline_after(kLong));
        } catch (const ConnectionClosed&) {
            socket.close();
            ++closed;
        }
    }
    CHECK(job.finish() > 0);
    CHECK(resident_bytes() < before + kMaxGrowth);
    CHECK(closed > 0);
}

TEST_CASE("a store that other machines can reach without a cookie logs a warning") {
    using mini::test::written_to_stderr;
    const auto warning_at = [](const char* host, const Cookie& cookie) {
        return written_to_stderr([&] { const TcpStoreServer server({host, 0}, cookie); });
    };
    CHECK(contains(warning_at("0.0.0.0", Cookie{}), "MINI_STORE_COOKIE"));
    CHECK(warning_at("0.0.0.0", Cookie{std::byte{1}}) == "");
    CHECK(warning_at("127.0.0.2", Cookie{}) == "");
    CHECK(is_loopback({"::1", 1}));
    CHECK_FALSE(is_loopback({"::", 1}));
    CHECK_FALSE(is_loopback({"10.0.0.1", 1}));
}

TEST_CASE("an invalid amount leaves the table unchanged") {
    StoreTable table;
    table.set("n", "5");
    const auto error_of = [&](const std::string& amount) {
        return failure_of([&] {
            carry_out({.command = protocol::Command::kAdd, .key = "n", .value = amount},
                      table);
        });
    };
    for (const char* amount : {"", "x", "1x", " 1", "1.5", "9223372036854775808"})
        CHECK(contains(error_of(amount), "\"n\": the amount is"));
    CHECK(contains(error_of("9223372036854775807"), "too large"));
    CHECK(*table.find("n") == "5");
}
