// The checks of task 10.4: a reply that arrives in pieces. The server is a script in a
// second, simulated process, which decides when each byte is sent.

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "labs/10-store-and-rendezvous/test_support.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using labs::end_text;
using labs::how;
using labs::run_processes;
using labs::seconds_of;
using protocol::Reply;
using protocol::Request;
using protocol::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::contains;

namespace {

// The server's end of one connection.
class Script {
  public:
    explicit Script(Socket socket) : socket_(std::move(socket)) {
        Hello theirs;
        recv_all(socket_, std::as_writable_bytes(std::span(&theirs, 1)), kNever);
        const Hello mine = make_hello(Hello::Role::kStoreServer, Cookie{}, 0, -1);
        send_all(socket_, std::as_bytes(std::span(&mine, 1)), kNever);
    }

    Request next_request() {
        while (true) {
            if (auto request = protocol::take_request(inbox_)) return *request;
            wait_for(socket_, POLLIN, kNever);
            std::string bytes(4096, '\0');
            bytes.resize(recv_some(socket_, std::as_writable_bytes(std::span(bytes))));
            inbox_ += bytes;
        }
    }

    void send(const std::string& bytes) {
        send_all(socket_, std::as_bytes(std::span(bytes)), kNever);
    }

  private:
    Socket socket_;
    std::string inbox_;
};

std::string reply_bytes(uint32_t id, const std::string& value) {
    return protocol::to_bytes(Reply{id, Status::kDone, value});
}

// Runs a client in process 0 and the server's script in process 1; returns how the client
// ended.
ProcessEnd run_pair(const std::function<void(TcpStore& store)>& client,
                    const std::function<void(Script& script)>& server) {
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 1);
    auto [near, far] = cluster.system().connect_pair(0, 1);
    const auto ends = run_processes(cluster, [&](int process) {
        if (process == 0) {
            TcpStore store(std::move(near), {"10.0.0.2", 29500}, Cookie{},
                           deadline_after(seconds(5)));
            client(store);
        } else {
            Script script(std::move(far));
            server(script);
        }
    });
    return ends[0];
}

}  // namespace

TEST_CASE("a reply that is not complete stays in the bytes", "[lab10][lab10.4]") {
    const std::string whole = reply_bytes(7, "value");
    for (size_t n = 0; n < whole.size(); ++n) {
        std::string bytes = whole.substr(0, n);
        INFO(n << " of " << whole.size() << " bytes are there: not yet a reply");
        const std::optional<Reply> early = protocol::take_reply(bytes);
        CHECK(!early);
        CHECK(bytes == whole.substr(0, n));
    }
    std::string bytes = whole;
    const std::optional<Reply> reply = protocol::take_reply(bytes);
    INFO("all " << whole.size() << " bytes are there: take_reply returns the reply");
    REQUIRE(reply.has_value());
    CHECK(reply->id == 7);
    CHECK(reply->value == "value");
    CHECK(bytes == "");
}

TEST_CASE("two replies in one read are taken one by one", "[lab10][lab10.4]") {
    std::string bytes = reply_bytes(1, "") + reply_bytes(2, "two") + "rest";
    const auto first = protocol::take_reply(bytes);
    INFO("12 + 15 bytes are two replies; the 4 after them begin a third");
    REQUIRE(first.has_value());
    CHECK(first->value == "");
    const auto second = protocol::take_reply(bytes);
    REQUIRE(second.has_value());
    CHECK(second->id == 2);
    CHECK(second->value == "two");
    INFO("what follows a reply is the beginning of the next one: it stays");
    CHECK(bytes == "rest");
}

TEST_CASE("a reply with an invalid head is found before its value arrives",
          "[lab10][lab10.4]") {
    const std::string good = reply_bytes(1, "");
    const auto head = [](uint32_t id, uint32_t status, uint32_t size) {
        std::string bytes;
        for (const uint32_t number : {id, status, size})
            bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
        return bytes;
    };
    REQUIRE(head(1, 0, 0) == good);
    std::string bytes = head(1, 2, 0);
    INFO("status 2 does not exist");
    CHECK_THROWS_AS(protocol::take_reply(bytes), Error);
    bytes = head(1, 0, kMaxValueBytes + 1);
    INFO("a value of more than kMaxValueBytes: a client that waits for it waits forever");
    CHECK_THROWS_AS(protocol::take_reply(bytes), Error);
    bytes = head(1, 1, kMaxValueBytes);
    INFO("status 1 and a value of kMaxValueBytes are allowed");
    CHECK(!protocol::take_reply(bytes));
    bytes = head(1, 1, 0);
    CHECK(protocol::take_reply(bytes).has_value());
}

TEST_CASE("the client reads a reply that comes byte by byte", "[lab10][lab10.4]") {
    std::string value;
    const ProcessEnd end = run_pair(
        [&](TcpStore& store) { value = store.get("k", deadline_after(seconds(5))); },
        [](Script& script) {
            for (const char byte : reply_bytes(script.next_request().id, "value")) {
                script.send(std::string(1, byte));
                sleep_for(milliseconds(10));
            }
        });
    INFO("the reply has 17 bytes, one each 10 ms; the client " << end_text(end));
    INFO("one read returns what has arrived, perhaps one byte: cut the inbox to that");
    REQUIRE(how(end) == "returned");
    CHECK(value == "value");
}

TEST_CASE("the client reads a reply that is longer than one read", "[lab10][lab10.4]") {
    const std::string text(5 * protocol::kReadBytes + 123, 'x');
    std::string value;
    const ProcessEnd end = run_pair(
        [&](TcpStore& store) { value = store.get("k", deadline_after(seconds(5))); },
        [&](Script& script) {
            const std::string bytes = reply_bytes(script.next_request().id, text);
            script.send(bytes.substr(0, 100'000));
            sleep_for(milliseconds(50));
            script.send(bytes.substr(100'000));
        });
    INFO("a value of " << text.size() << " bytes; the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    const size_t wrong = std::min(value.find_first_not_of('x'), value.size());
    INFO("of the client's " << value.size() << " bytes the first " << wrong
                            << " are right; cut the inbox to what has arrived");
    CHECK(value.size() == text.size());
    CHECK(wrong == text.size());
}

TEST_CASE("a late reply is not taken for the reply to the next request",
          "[lab10][lab10.4]") {
    std::string text, value;
    const ProcessEnd end = run_pair(
        [&](TcpStore& store) {
            try {
                store.get("k", deadline_after(milliseconds(100)));
            } catch (const Timeout& timeout) {
                text = timeout.what();
            }
            value = store.get("k", deadline_after(seconds(5)));
        },
        [](Script& script) {
            const Request get = script.next_request();
            const Request check = script.next_request();  // after the client's deadline
            script.send(reply_bytes(get.id, "old") + reply_bytes(check.id, "0"));
            script.send(reply_bytes(script.next_request().id, "new"));
        });
    INFO(
        "get gave up at its deadline and asked whether the key exists; then both "
        "replies came, that of the get first. Each has its request's id; hint 2 of 10.4");
    INFO("the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(contains(text, "missing"));
    CHECK(value == "new");
}

TEST_CASE("half a reply at the deadline is not lost", "[lab10][lab10.4]") {
    std::string value;
    const ProcessEnd end = run_pair(
        [&](TcpStore& store) { value = store.get("k", deadline_after(seconds(1))); },
        [](Script& script) {
            const std::string old = reply_bytes(script.next_request().id, "a long value");
            script.send(old.substr(0, 15));
            const Request check = script.next_request();
            script.send(old.substr(15) + reply_bytes(check.id, "1"));
            script.send(reply_bytes(script.next_request().id, "again"));
        });
    INFO(
        "half of the reply came before the deadline, the other half after it: if the "
        "first is thrown away, the second is read as a head; hint 3 of 10.4");
    INFO("the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(value == "again");
}

TEST_CASE("a server that is silent is noticed at the deadline", "[lab10][lab10.4]") {
    const int sent = GENERATE(0, 3, 14);
    const ProcessEnd end = run_pair(
        [](TcpStore& store) {
            store.set_timeout(seconds(2));
            store.set("k", "v");
        },
        [&](Script& script) {
            const std::string bytes = reply_bytes(script.next_request().id, "value");
            script.send(bytes.substr(0, static_cast<size_t>(sent)));
            sleep_for(seconds(60));
        });
    INFO("the server sends " << sent << " bytes of 17, then nothing for a minute; the "
                             << "client " << end_text(end));
    REQUIRE(how(end) == "Timeout");
    CHECK(contains(end.failure->message, "silent"));
    CHECK(seconds_of(end) >= 2);
    CHECK(seconds_of(end) < 2.01);
}

TEST_CASE("a server that is gone is noticed before the deadline", "[lab10][lab10.4]") {
    const ProcessEnd end =
        run_pair([](TcpStore& store) { store.get("k", deadline_after(seconds(9))); },
                 [](Script& script) {
                     script.send(reply_bytes(script.next_request().id, "v").substr(0, 5));
                 });
    INFO("the server closes the connection; the client " << end_text(end));
    CHECK(how(end) == "PeerLost");
    CHECK(seconds_of(end) < 1);
}
