// Limits of the store's server: the memory that clients can use, and the warning for an
// address that other machines can reach.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/store_requests.hpp"
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

constexpr size_t kMebibyte = 1 << 20;

// Returns the socket of a client that has completed the handshake.
Socket greeted(const TcpStoreServer& server) {
    Socket socket = connect_to(server.address(), deadline_after(kLong));
    const Hello mine = make_hello(Hello::Role::kStoreClient, Cookie{}, -1, 0);
    send_text(socket, std::string(reinterpret_cast<const char*>(&mine), sizeof mine));
    Hello theirs;
    recv_all(socket, std::as_writable_bytes(std::span(&theirs, 1)),
             deadline_after(kLong));
    return socket;
}

}  // namespace

TEST_CASE("partial requests and unread replies and long keys share one memory budget") {
    constexpr size_t kBudget = 16 * kMebibyte;
    TcpStoreServer server({"127.0.0.1", 0}, Cookie{}, {.bytes = kBudget});
    TcpStore store(server.address(), Cookie{}, deadline_after(kLong));
    store.set("value", std::string(kMebibyte, 'v'));
    const size_t before = resident_bytes();
    std::vector<Socket> clients;
    size_t peak = 0;
    SECTION("partial requests") {
        const protocol::RequestHead head{1, protocol::Command::kSet, 1, 16 * kMebibyte};
        const std::string half =
            std::string(reinterpret_cast<const char*>(&head), sizeof head) +
            std::string(2 * kMebibyte, 'h');
        for (int i = 0; i < 60; ++i) {
            send_text(clients.emplace_back(greeted(server)), half);
            peak = std::max(peak, resident_bytes());
        }
    }
    SECTION("unread replies") {
        std::string gets;
        for (uint32_t i = 0; i < 100; ++i)
            gets += to_bytes(protocol::Request{i, protocol::Command::kGet, "value", ""});
        for (int i = 0; i < 5; ++i) {
            send_text(clients.emplace_back(greeted(server)), gets);
            store.set("after", "all that was sent before has been read");
            peak = std::max(peak, resident_bytes());
        }
    }
    SECTION("keys that clients wait for") {
        for (int i = 0; i < 100; ++i) {
            const std::string key = concat(std::string(kMaxKeyBytes - 9, 'k'), i);
            send_text(clients.emplace_back(greeted(server)),
                      to_bytes(protocol::Request{1, protocol::Command::kWait, key, ""}));
        }
    }

    // The server has dropped the clients that used the most memory, and still serves
    // `store`.
    const Deadline deadline = deadline_after(kLong);
    while (server.counters().over_memory == 0 && !has_passed(deadline))
        std::this_thread::yield();
    CHECK(server.counters().over_memory > 0);
    CHECK(store.get("value", deadline_after(kLong)).size() == kMebibyte);
    CHECK(store.add("n", 1) == 1);
    if (!mini::test::kSanitized) CHECK(peak < before + 3 * kBudget);
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

TEST_CASE("an invalid amount and an invalid pair of values leave the table unchanged") {
    StoreTable table;
    table.set("n", "5");
    const auto error_of = [&](protocol::Command command, const std::string& value) {
        return failure_of([&] {
            carry_out({.command = command, .key = "n", .value = value}, table, {});
        });
    };
    for (const char* amount : {"", "x", "1x", " 1", "1.5", "9223372036854775808"})
        CHECK(
            contains(error_of(protocol::Command::kAdd, amount), "\"n\": the amount is"));
    CHECK(
        contains(error_of(protocol::Command::kAdd, "9223372036854775807"), "too large"));
    for (const std::string pair : {"", "abc", "\xff\xff\xff\xff", "\x05___abcd"})
        CHECK(contains(error_of(protocol::Command::kCompareSet, pair), "no two values"));
    CHECK(*table.find("n") == "5");
}
