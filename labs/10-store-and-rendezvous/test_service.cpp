// The checks of task 10.3: the server's queues of clients that wait for a key.
// StoreService has no sockets, so these checks see all replies in their order.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "labs/check/both_values.hpp"
#include "libmini/distributed/store/store_service.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using protocol::Command;
using Replies = std::vector<std::string>;

namespace {

struct NamedClient : StoreClient {
    explicit NamedClient(std::string its_name) : name(std::move(its_name)) {}
    std::string name;
};

// A service with a log of its replies: client, request id and value, such as "a 7 value";
// "a 7 refused" if the request was refused.
struct LoggedService {
    Replies replies;
    std::string reason;  // of the last refusal
    std::function<void(const NamedClient& client)> on_reply = [](const NamedClient&) {};
    StoreService service{[this](StoreClient& client, uint32_t id, protocol::Status status,
                                const std::string& value) {
        const auto& named = static_cast<NamedClient&>(client);
        const bool is_done = status == protocol::Status::kDone;
        replies.push_back(concat(named.name, " ", id, " ", is_done ? value : "refused"));
        if (!is_done) reason = value;
        on_reply(named);
    }};

    void ask(NamedClient& client, uint32_t id, Command command, const std::string& key,
             const std::string& value = "", const std::string& expected = "") {
        // If task 10.1 is not started, throw NotImplemented here: the service replies that
        // the request is refused.
        if (command == Command::kAdd) StoreTable().add(key, 1);
        if (command == Command::kCompareSet) StoreTable().compare_set(key, "", value);
        service.handle(client, {id, command, key, value, expected});
    }
};

}  // namespace

TEST_CASE("a get or wait of a key that exists is answered immediately",
          "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a");
    store.ask(a, 1, Command::kSet, "k", "value");
    store.ask(a, 2, Command::kGet, "k");
    store.ask(a, 3, Command::kWait, "k");
    store.ask(a, 4, Command::kSet, "empty", "");
    store.ask(a, 5, Command::kGet, "empty");
    INFO(
        "set is answered by \"\", get by the value, wait by \"\"; a key with the value "
        "\"\" exists");
    CHECK(store.replies == Replies{"a 1 ", "a 2 value", "a 3 ", "a 4 ", "a 5 "});
    CHECK(store.service.awaited_keys() == 0);
}

TEST_CASE("clients that wait are answered in their order when the key is set",
          "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b"), c("c"), d("d");
    store.ask(b, 5, Command::kGet, "k");
    store.ask(a, 6, Command::kWait, "k");
    store.ask(c, 7, Command::kGet, "other");
    INFO("nothing is set yet: no client gets a reply, not even an empty one");
    CHECK(store.replies == Replies{});
    CHECK(store.service.awaited_keys() == 2);
    store.ask(d, 8, Command::kSet, "k", "value");
    INFO("b asked first, a second; c waits for another key; d set k; hint 2 of 10.3");
    CHECK(store.replies == Replies{"b 5 value", "a 6 ", "d 8 "});
    store.ask(d, 9, Command::kSet, "k", "second");
    INFO("a second set answers no client: the queue of the key was emptied");
    CHECK(store.replies == Replies{"b 5 value", "a 6 ", "d 8 ", "d 9 "});
    store.ask(d, 10, Command::kSet, "other", "late");
    CHECK(store.replies ==
          Replies{"b 5 value", "a 6 ", "d 8 ", "d 9 ", "c 7 late", "d 10 "});
}

TEST_CASE("add and compare_set answer those who wait, too", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b");
    store.ask(a, 1, Command::kGet, "n");
    store.ask(b, 2, Command::kAdd, "n", "5");
    store.ask(a, 3, Command::kGet, "k");
    store.ask(b, 4, Command::kCompareSet, "k", "new", "");
    CHECK(store.replies == Replies{"a 1 5", "b 2 5", "a 3 new", "b 4 new"});
}

TEST_CASE("a change that sets nothing answers no client", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b");
    store.ask(a, 1, Command::kGet, "k");
    INFO("a waits for k; b deletes it, and then expects a value that it has not");
    store.ask(b, 2, Command::kErase, "k");
    store.ask(b, 3, Command::kCompareSet, "k", "new", "old");
    INFO("both name the key, and it still does not exist; hint 1 of 10.3");
    CHECK(store.replies == Replies{"b 2 0", "b 3 old"});
    store.ask(b, 4, Command::kSet, "k", "value");
    INFO("a is still in the queue");
    CHECK(store.replies == Replies{"b 2 0", "b 3 old", "a 1 value", "b 4 "});
}

TEST_CASE("a client that sends another request has stopped waiting", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b");
    store.ask(a, 1, Command::kGet, "k");
    store.ask(a, 2, Command::kCheck, "k");
    store.ask(b, 3, Command::kSet, "k", "value");
    INFO(
        "a asked for k, gave up at its deadline and asked something else: a reply to "
        "question 1 would be taken for that of its next question; hint 2 of 10.3");
    CHECK(store.replies == Replies{"a 2 0", "b 3 "});
}

TEST_CASE("a client waits for one key at a time", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b");
    store.ask(a, 1, Command::kGet, "k");
    store.ask(a, 2, Command::kGet, "other");
    CHECK(store.service.awaited_keys() == 1);
    store.ask(b, 3, Command::kSet, "k", "value");
    store.ask(b, 4, Command::kSet, "other", "late");
    INFO("a gave up waiting for k, and waits for other");
    CHECK(store.replies == Replies{"b 3 ", "a 2 late", "b 4 "});
}

TEST_CASE("a client that asks twice gets one reply", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b"), c("c");
    store.ask(a, 1, Command::kGet, "k");
    store.ask(c, 2, Command::kGet, "k");
    store.ask(a, 3, Command::kGet, "k");
    store.ask(b, 4, Command::kSet, "k", "value");
    INFO("a asked twice: it is in the queue once, for its second question, behind c");
    CHECK(store.replies == Replies{"c 2 value", "a 3 value", "b 4 "});
}

TEST_CASE("a client that has gone is in no queue", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b"), c("c");
    auto gone = std::make_unique<NamedClient>("gone");
    store.ask(a, 1, Command::kGet, "k");
    store.ask(*gone, 2, Command::kGet, "k");
    store.ask(c, 3, Command::kGet, "k");
    store.service.forget(*gone);
    store.service.forget(*gone);
    INFO("forget() of a client without a question does nothing, and may be called twice");
    gone.reset();
    store.ask(b, 4, Command::kSet, "k", "value");
    INFO("a pointer that stays in the queue points to a connection that is closed");
    CHECK(store.replies == Replies{"a 1 value", "c 3 value", "b 4 "});
}

TEST_CASE("a client may be dropped while another gets its reply", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b"), c("c"), d("d");
    store.ask(a, 1, Command::kGet, "k");
    store.ask(b, 2, Command::kGet, "k");
    store.ask(c, 3, Command::kGet, "k");
    store.on_reply = [&](const NamedClient& client) {
        if (client.name == "a") {
            store.service.forget(a);  // its connection broke
            store.service.forget(b);  // dropped to make room
        }
    };
    store.ask(d, 4, Command::kSet, "k", "value");
    INFO(
        "the reply to a drops a and b: forget() may then change the queue that you walk "
        "through; b gets no reply, c does; hint 2 of 10.3");
    CHECK(store.replies == Replies{"a 1 value", "c 3 value", "d 4 "});
    store.on_reply = [](const NamedClient&) {};
    store.ask(b, 5, Command::kGet, "k");
    CHECK(store.replies.back() == "b 5 value");
}

TEST_CASE("all others may be dropped while a client gets its reply", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b"), c("c"), d("d");
    for (NamedClient* client : {&a, &b, &c}) store.ask(*client, 1, Command::kGet, "k");
    store.on_reply = [&](const NamedClient& client) {
        if (client.name != "a") return;
        store.service.forget(b);
        store.service.forget(c);
    };
    store.ask(d, 2, Command::kSet, "k", "value");
    INFO(
        "the reply to a drops b and c, and with them what is left of their queue; hint 2 "
        "of 10.3");
    CHECK(store.replies == Replies{"a 1 value", "d 2 "});
}

TEST_CASE("a client that was answered is in no queue", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient b("b");
    auto gone = std::make_unique<NamedClient>("gone");
    store.ask(*gone, 1, Command::kGet, "k");
    CHECK(store.service.awaited_keys() == 1);
    store.ask(b, 2, Command::kSet, "k", "value");
    INFO("no client waits for k any more, and no pointer to a client stays");
    REQUIRE(store.service.awaited_keys() == 0);
    store.service.forget(*gone);
    gone.reset();
    store.ask(b, 3, Command::kSet, "k", "second");
    CHECK(store.replies == Replies{"gone 1 value", "b 2 ", "b 3 "});
}

TEST_CASE("an empty queue does not stay", "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b");
    store.ask(a, 1, Command::kGet, "k");
    store.ask(b, 2, Command::kGet, "k");
    store.service.forget(a);
    CHECK(store.service.awaited_keys() == 1);
    store.service.forget(b);
    INFO(
        "a and b have given up: if something of k stays, each key for which a client "
        "gave "
        "up takes memory until the server ends; hint 2 of 10.3");
    CHECK(store.service.awaited_keys() == 0);
}

TEST_CASE("a request that cannot be carried out is refused, with the reason",
          "[lab10][lab10.3]") {
    LoggedService store;
    NamedClient a("a"), b("b");
    store.ask(a, 1, Command::kGet, "other");
    store.ask(b, 2, Command::kSet, "n", "12 apples");
    store.ask(b, 3, Command::kAdd, "n", "1");
    INFO("add to \"12 apples\" throws Error, whose text is the value of the reply");
    CHECK(store.replies == Replies{"b 2 ", "b 3 refused"});
    CHECK_THAT(store.reason, labs::ContainsSubstring("12 apples"));
    store.ask(b, 4, Command::kGet, "n");
    store.ask(b, 5, Command::kSet, "other", "value");
    CHECK(store.replies ==
          Replies{"b 2 ", "b 3 refused", "b 4 12 apples", "a 1 value", "b 5 "});
}
