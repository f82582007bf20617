// The checks of task 10.3: the server's queues of clients that wait for a key.
// StoreService has no sockets, so these checks see all replies in their order.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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

// A service with a log of its replies: client, request id and value, such as "a 7 value".
struct Desk {
    Replies replies;
    std::function<void(const NamedClient& client)> on_reply = [](const NamedClient&) {};
    StoreService service{[this](StoreClient& client, uint32_t id, protocol::Status,
                                const std::string& value) {
        const auto& named = static_cast<NamedClient&>(client);
        replies.push_back(concat(named.name, " ", id, " ", value));
        on_reply(named);
    }};

    void ask(NamedClient& client, uint32_t id, Command command, const std::string& key,
             const std::string& value = "", const std::string& expected = "") {
        service.handle(client, {id, command, key, value, expected});
    }
};

}  // namespace

TEST_CASE("a get or wait of a key that exists is answered immediately",
          "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a");
    desk.ask(a, 1, Command::kSet, "k", "value");
    desk.ask(a, 2, Command::kGet, "k");
    desk.ask(a, 3, Command::kWait, "k");
    INFO("set is answered by \"\", get by the value, wait by \"\"");
    CHECK(desk.replies == Replies{"a 1 ", "a 2 value", "a 3 "});
    CHECK(!a.question);
}

TEST_CASE("clients that wait are answered in their order when the key is set",
          "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b"), c("c"), d("d");
    desk.ask(b, 5, Command::kGet, "k");
    desk.ask(a, 6, Command::kWait, "k");
    desk.ask(c, 7, Command::kGet, "other");
    INFO("nothing is set yet: no client gets a reply, not even an empty one");
    CHECK(desk.replies == Replies{});
    REQUIRE(b.question.has_value());
    CHECK(b.question->key == "k");
    desk.ask(d, 8, Command::kSet, "k", "value");
    INFO("b asked first, a second; c waits for another key; d set k; hint 2 of 10.3");
    CHECK(desk.replies == Replies{"b 5 value", "a 6 ", "d 8 "});
    CHECK(!b.question);
    CHECK(c.question.has_value());
    desk.ask(d, 9, Command::kSet, "k", "second");
    INFO("a second set answers no client: the queue of the key was emptied");
    CHECK(desk.replies == Replies{"b 5 value", "a 6 ", "d 8 ", "d 9 "});
    desk.ask(d, 10, Command::kSet, "other", "late");
    CHECK(desk.replies ==
          Replies{"b 5 value", "a 6 ", "d 8 ", "d 9 ", "c 7 late", "d 10 "});
}

TEST_CASE("add and compare_set answer those who wait, too", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b");
    desk.ask(a, 1, Command::kGet, "n");
    desk.ask(b, 2, Command::kAdd, "n", "5");
    desk.ask(a, 3, Command::kGet, "k");
    desk.ask(b, 4, Command::kCompareSet, "k", "new", "");
    CHECK(desk.replies == Replies{"a 1 5", "b 2 5", "a 3 new", "b 4 new"});
}

TEST_CASE("a change that sets nothing answers no client", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b");
    desk.ask(a, 1, Command::kGet, "k");
    INFO("a waits for k; b deletes it, and then expects a value that it has not");
    desk.ask(b, 2, Command::kErase, "k");
    desk.ask(b, 3, Command::kCompareSet, "k", "new", "old");
    INFO("both name the key, and it still does not exist; hint 1 of 10.3");
    CHECK(desk.replies == Replies{"b 2 0", "b 3 old"});
    REQUIRE(a.question.has_value());
    desk.ask(b, 4, Command::kSet, "k", "value");
    INFO("a is still in the queue");
    CHECK(desk.replies == Replies{"b 2 0", "b 3 old", "a 1 value", "b 4 "});
}

TEST_CASE("a client that sends another request has stopped waiting", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b");
    desk.ask(a, 1, Command::kGet, "k");
    desk.ask(a, 2, Command::kCheck, "k");
    desk.ask(b, 3, Command::kSet, "k", "value");
    INFO(
        "a asked for k, gave up at its deadline and asked something else: a reply to "
        "question 1 would be taken for that of its next question; hint 2 of 10.3");
    CHECK(desk.replies == Replies{"a 2 0", "b 3 "});
}

TEST_CASE("a client that asks twice gets one reply", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b"), c("c");
    desk.ask(a, 1, Command::kGet, "k");
    desk.ask(c, 2, Command::kGet, "k");
    desk.ask(a, 3, Command::kGet, "k");
    desk.ask(b, 4, Command::kSet, "k", "value");
    INFO("a asked twice: it is in the queue once, for its second question, behind c");
    CHECK(desk.replies == Replies{"c 2 value", "a 3 value", "b 4 "});
}

TEST_CASE("a client that has gone is in no queue", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b"), c("c");
    auto gone = std::make_unique<NamedClient>("gone");
    desk.ask(a, 1, Command::kGet, "k");
    desk.ask(*gone, 2, Command::kGet, "k");
    desk.ask(c, 3, Command::kGet, "k");
    desk.service.forget(*gone);
    desk.service.forget(*gone);
    INFO("forget() of a client without a question does nothing, and may be called twice");
    CHECK(!gone->question);
    gone.reset();
    desk.ask(b, 4, Command::kSet, "k", "value");
    INFO("a pointer that stays in the queue points to a connection that is closed");
    CHECK(desk.replies == Replies{"a 1 value", "c 3 value", "b 4 "});
}

TEST_CASE("a client may be dropped while another gets its reply", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b"), c("c"), d("d");
    desk.ask(a, 1, Command::kGet, "k");
    desk.ask(b, 2, Command::kGet, "k");
    desk.ask(c, 3, Command::kGet, "k");
    desk.on_reply = [&](const NamedClient& client) {
        if (client.name == "a") {
            desk.service.forget(a);  // its connection broke
            desk.service.forget(b);  // dropped to make room
        }
    };
    desk.ask(d, 4, Command::kSet, "k", "value");
    INFO(
        "the reply to a drops a and b: forget() then changes what you walk through, if "
        "the queue is still in waiters_; b gets no reply, c does; hint 3 of 10.3");
    CHECK(desk.replies == Replies{"a 1 value", "c 3 value", "d 4 "});
    desk.on_reply = [](const NamedClient&) {};
    desk.ask(b, 5, Command::kGet, "k");
    CHECK(desk.replies.back() == "b 5 value");
}

TEST_CASE("all others may be dropped while a client gets its reply", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b"), c("c"), d("d");
    for (NamedClient* client : {&a, &b, &c}) desk.ask(*client, 1, Command::kGet, "k");
    desk.on_reply = [&](const NamedClient& client) {
        if (client.name != "a") return;
        desk.service.forget(b);
        desk.service.forget(c);
    };
    desk.ask(d, 2, Command::kSet, "k", "value");
    INFO(
        "the reply to a drops b and c, and with them what is left of their queue: take "
        "the queue out of waiters_ before you walk through it; hint 3 of 10.3");
    CHECK(desk.replies == Replies{"a 1 value", "d 2 "});
}

TEST_CASE("a client that was answered is in no queue", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient b("b");
    auto gone = std::make_unique<NamedClient>("gone");
    desk.ask(*gone, 1, Command::kGet, "k");
    CHECK(desk.service.awaited_keys() == 1);
    desk.ask(b, 2, Command::kSet, "k", "value");
    INFO(
        "no client waits for k any more: its queue leaves waiters_ (extract, not find), "
        "or it keeps a pointer to a client that forget() no longer looks for");
    REQUIRE(desk.service.awaited_keys() == 0);
    desk.service.forget(*gone);
    gone.reset();
    desk.ask(b, 3, Command::kSet, "k", "second");
    CHECK(desk.replies == Replies{"gone 1 value", "b 2 ", "b 3 "});
}

TEST_CASE("an empty queue does not stay", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b");
    desk.ask(a, 1, Command::kGet, "k");
    desk.ask(b, 2, Command::kGet, "k");
    desk.service.forget(a);
    CHECK(desk.service.awaited_keys() == 1);
    desk.service.forget(b);
    INFO(
        "a and b have given up: if the empty queue of k stays in waiters_, each key for "
        "which a client gave up takes memory until the server ends; hint 2 of 10.3");
    CHECK(desk.service.awaited_keys() == 0);
}

TEST_CASE("a client has no question while its reply is sent", "[lab10][lab10.3]") {
    Desk desk;
    NamedClient a("a"), b("b");
    bool had_question = false;
    desk.ask(a, 1, Command::kGet, "k");
    desk.on_reply = [&](const NamedClient& client) {
        had_question = had_question || client.question.has_value();
    };
    desk.ask(b, 2, Command::kSet, "k", "value");
    INFO("a question that stays is answered a second time");
    CHECK(!had_question);
    CHECK(desk.replies == Replies{"a 1 value", "b 2 "});
}
