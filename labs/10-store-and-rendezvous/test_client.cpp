// The checks of tasks 10.4 and 10.5: messages in a stream of bytes, and the client. The
// client's server is a script in a second, simulated process, which decides when each byte
// is sent.

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "labs/10-store-and-rendezvous/test_support.hpp"
#include "libmini/distributed/store/store_connection.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using labs::end_text;
using labs::how;
using labs::run_processes;
using labs::seconds_of;
using protocol::Command;
using protocol::Reply;
using protocol::Request;
using protocol::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr milliseconds kTime(5000);

// The server's end of one connection.
class Script {
  public:
    explicit Script(Socket socket) : socket_(std::move(socket)) {}

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

// Returns the bytes of the numbers, four each.
std::string numbers(const std::vector<uint32_t>& list) {
    return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof list[0]};
}

std::string reply_bytes(uint32_t id, const std::string& value) {
    return protocol::to_bytes(Reply{id, Status::kDone, value});
}

// Asks the server for `command` of the key "k"; returns the reply's value, or "Timeout",
// "gone", "Error".
std::string ask(StoreConnection& connection, Command command, milliseconds time = kTime) {
    try {
        return ask_server(connection, {.id = 77, .command = command, .key = "k"},
                          deadline_after(time))
            .value;
    } catch (const NotImplemented&) {
        throw;
    } catch (const Timeout&) {
        return "Timeout";
    } catch (const ConnectionClosed&) {
        return "gone";
    } catch (const Error&) {
        return "Error";
    }
}

// Runs a client in process 0 and the server's script in process 1; returns how the client
// ended.
ProcessEnd run_pair(const std::function<void(StoreConnection& connection)>& client,
                    const std::function<void(Script& script)>& server) {
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 1);
    auto sockets = cluster.system().connect_pair(0, 1);
    const auto ends = run_processes(cluster, [&](int process) {
        if (process == 0) {
            StoreConnection connection{std::move(sockets.first)};
            client(connection);
        } else {
            Script script(std::move(sockets.second));
            server(script);
        }
    });
    return ends[0];
}

}  // namespace

TEST_CASE("a reply that is not complete stays in the bytes", "[lab10][lab10.4]") {
    const std::string value("a\0b", 3);  // any bytes, a zero too
    const std::string whole = reply_bytes(7, value);
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
    CHECK(reply->value == value);
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
    REQUIRE(numbers({1, 0, 0}) == reply_bytes(1, ""));
    std::string bytes = numbers({1, 2, 0});
    INFO("status 2 does not exist");
    CHECK_THROWS_AS(protocol::take_reply(bytes), Error);
    bytes = numbers({1, 0, kMaxValueBytes + 1});
    INFO("a value of more than kMaxValueBytes: a client that waits for it waits forever");
    CHECK_THROWS_AS(protocol::take_reply(bytes), Error);
    bytes = numbers({1, 1, kMaxValueBytes});
    INFO("status 1 and a value of kMaxValueBytes are allowed");
    CHECK(!protocol::take_reply(bytes));
    bytes = numbers({1, 1, 0});
    CHECK(protocol::take_reply(bytes).has_value());
}

TEST_CASE("a request is a head of 20 bytes and three texts", "[lab10][lab10.4]") {
    const Request request{7, Command::kCompareSet, "key", std::string("a\0b", 3), "old"};
    std::string whole = numbers({7, 6, 3, 3, 3}) + "key";
    whole += std::string("a\0b", 3) + "old";
    INFO("id 7, command 6, sizes 3, 3 and 3, then the key, the value, and `expected`");
    CHECK(protocol::to_bytes(request) == whole);
    for (size_t n = 0; n < whole.size(); ++n) {
        std::string bytes = whole.substr(0, n);
        INFO(n << " of " << whole.size() << " bytes are there: not yet a request");
        CHECK(!protocol::take_request(bytes));
        CHECK(bytes == whole.substr(0, n));
    }
    std::string bytes = whole + numbers({8, 8, 0, 0, 0}) + "rest";
    const auto first = protocol::take_request(bytes);
    REQUIRE(first.has_value());
    CHECK(first->id == 7);
    CHECK(first->command == Command::kCompareSet);
    CHECK(first->key == "key");
    CHECK(first->value == request.value);
    CHECK(first->expected == "old");
    const auto second = protocol::take_request(bytes);
    REQUIRE(second.has_value());
    CHECK(second->id == 8);
    CHECK(second->key == "");
    CHECK(bytes == "rest");
}

TEST_CASE("a request with an invalid head is found before its texts arrive",
          "[lab10][lab10.4]") {
    const uint32_t key = kMaxKeyBytes, value = kMaxValueBytes;
    for (const auto& head : std::vector<std::vector<uint32_t>>{{1, 0, 0, 0, 0},
                                                               {1, 9, 0, 0, 0},
                                                               {1, 1, key + 1, 0, 0},
                                                               {1, 1, 0, value + 1, 0},
                                                               {1, 1, 0, 0, value + 1}}) {
        INFO(
            "id, command and the three sizes: only commands 1 to 8 exist, a key has at "
            "most kMaxKeyBytes, a value at most kMaxValueBytes");
        CAPTURE(head);
        std::string bytes = numbers(head);
        CHECK_THROWS_AS(protocol::take_request(bytes), Error);
    }
    std::string bytes = numbers({1, 8, key, value, value});
    INFO("the largest sizes are allowed: the texts have not arrived");
    CHECK(!protocol::take_request(bytes));
}

// ---- 10.5

TEST_CASE("the client numbers its requests and returns their replies",
          "[lab10][lab10.5]") {
    std::vector<uint32_t> ids;
    std::vector<Command> commands;
    std::string values;
    Status status = Status::kDone;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) {
            for (const Command command : {Command::kSet, Command::kGet})
                values += ask(connection, command) + ";";
            const Request add{.command = Command::kAdd, .key = "k", .value = "1"};
            status = ask_server(connection, add, deadline_after(kTime)).status;
        },
        [&](Script& script) {
            for (const std::string value : {"", "value", "no"}) {
                const Request request = script.next_request();
                ids.push_back(request.id);
                commands.push_back(request.command);
                const Status said = value == "no" ? Status::kRefused : Status::kDone;
                script.send(protocol::to_bytes(Reply{request.id, said, value}));
            }
        });
    INFO("a set, a get, and an add that the server refuses; the client "
         << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(ids == std::vector<uint32_t>{0, 1, 2});
    CHECK(commands == std::vector<Command>{Command::kSet, Command::kGet, Command::kAdd});
    CHECK(values == ";value;");
    CHECK(status == Status::kRefused);
}

TEST_CASE("the client reads a reply that comes byte by byte", "[lab10][lab10.5]") {
    std::string value;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) { value = ask(connection, Command::kGet); },
        [](Script& script) {
            for (const char byte : reply_bytes(script.next_request().id, "value")) {
                script.send(std::string(1, byte));
                sleep_for(milliseconds(10));
            }
        });
    INFO("the reply has 17 bytes, one each 10 ms; the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(value == "value");
}

TEST_CASE("the client reads a reply that is longer than one read", "[lab10][lab10.5]") {
    const std::string text(5 * protocol::kReadBytes + 123, 'x');
    std::string value;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) { value = ask(connection, Command::kGet); },
        [&](Script& script) {
            const std::string bytes = reply_bytes(script.next_request().id, text);
            script.send(bytes.substr(0, 100'000));
            sleep_for(milliseconds(50));
            script.send(bytes.substr(100'000));
        });
    INFO("a value of " << text.size() << " bytes; the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(value.size() == text.size());
    CHECK((value == text));
}

TEST_CASE("a late reply is not taken for the reply to the next request",
          "[lab10][lab10.5]") {
    std::vector<std::string> values;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) {
            values.push_back(ask(connection, Command::kGet, milliseconds(100)));
            values.push_back(ask(connection, Command::kCheck));
            values.push_back(ask(connection, Command::kWait));
        },
        [](Script& script) {
            const Request get = script.next_request();
            const Request check = script.next_request();  // after the client's deadline
            script.send(reply_bytes(get.id, "old") + reply_bytes(check.id, "0"));
            script.send(reply_bytes(script.next_request().id, "new"));
        });
    INFO(
        "get gave up at its deadline, and the client sent a check; then both replies "
        "came, that of the get first; hint 1 of 10.5");
    INFO("the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(values == std::vector<std::string>{"Timeout", "0", "new"});
}

TEST_CASE("half a reply at the deadline is not lost", "[lab10][lab10.5]") {
    std::vector<std::string> values;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) {
            values.push_back(ask(connection, Command::kWait, milliseconds(1000)));
            values.push_back(ask(connection, Command::kCheck));
        },
        [](Script& script) {
            const std::string old = reply_bytes(script.next_request().id, "a long value");
            script.send(old.substr(0, 15));
            const Request check = script.next_request();
            script.send(old.substr(15) + reply_bytes(check.id, "1"));
        });
    INFO(
        "half of the reply came before the deadline, the other half after it: if the "
        "first is thrown away, the second is read as a head; hint 2 of 10.5");
    INFO("the client " << end_text(end));
    REQUIRE(how(end) == "returned");
    CHECK(values == std::vector<std::string>{"Timeout", "1"});
}

TEST_CASE("a server that is silent is noticed at the deadline", "[lab10][lab10.5]") {
    const Command command =
        GENERATE(Command::kSet, Command::kGet, Command::kWait, Command::kCheck);
    const size_t sent = GENERATE(0, 3, 14);
    std::string value;
    bool is_open = false;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) {
            value = ask(connection, command, seconds(2));
            is_open = connection.socket.is_open();
        },
        [&](Script& script) {
            script.send(reply_bytes(script.next_request().id, "value").substr(0, sent));
            sleep_for(seconds(60));
        });
    INFO("the server sends " << sent << " bytes of 17, then nothing for a minute; the "
                             << "client " << end_text(end));
    CHECK(value == "Timeout");
    CHECK(seconds_of(end) >= 2);
    CHECK(seconds_of(end) < 2.01);
    INFO("command " << static_cast<uint32_t>(command)
                    << ": after a get (2) or wait (4) the client may go on, as another "
                       "rank is late; after a set (1) or check (5) the server is stuck");
    CHECK(is_open == (command == Command::kGet || command == Command::kWait));
}

TEST_CASE("a request that was sent in part closes the connection", "[lab10][lab10.5]") {
    bool is_open = true;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) {
            const Request get{.command = Command::kGet,
                              .key = "k",
                              .value = std::string(kMaxValueBytes, 'v')};
            try {
                ask_server(connection, get, deadline_after(milliseconds(5)));
            } catch (const Timeout&) {
                is_open = connection.socket.is_open();
            }
        },
        [&](Script&) { sleep_for(seconds(5)); });
    INFO(
        "a network of 10 Gbit/s takes 13 ms for the 16 MB, and the deadline is after 5 "
        "ms; even if the request is a get, the next one would be read as its rest");
    REQUIRE(how(end) == "returned");
    CHECK(!is_open);
}

TEST_CASE("an invalid reply, or none any more, closes the connection",
          "[lab10][lab10.5]") {
    const bool is_gone = GENERATE(false, true);
    std::string value;
    bool is_open = true;
    const ProcessEnd end = run_pair(
        [&](StoreConnection& connection) {
            value = ask(connection, Command::kGet);
            is_open = connection.socket.is_open();
        },
        [&](Script& script) {
            const uint32_t id = script.next_request().id;
            if (is_gone) return script.send(reply_bytes(id, "v").substr(0, 5));
            script.send(numbers({id, 2, 0}));
            sleep_for(seconds(60));
        });
    INFO("the client " << end_text(end));
    CHECK(value == (is_gone ? "gone" : "Error"));
    CHECK(!is_open);
    CHECK(seconds_of(end) < 1);
}
