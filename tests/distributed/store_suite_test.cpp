// The contract of Store: the same tests for all kinds of stores (store_kinds.hpp).

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/distributed/store_kinds.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

std::string any_kind() {
    static const std::vector<std::string> kinds = store_kinds();
    return kinds[static_cast<size_t>(
        GENERATE_COPY(range(0, static_cast<int>(kinds.size()))))];
}

// A store of each kind in turn, and two clients.
struct AnyStore {
    AnyStore() { UNSCOPED_INFO(kind); }

    const std::string kind = any_kind();
    SharedStore shared{kind};
    const std::shared_ptr<Store> a = shared.client(), b = shared.client();
};

Deadline soon() { return deadline_after(milliseconds(50)); }

}  // namespace

TEST_CASE_METHOD(AnyStore,
                 "every store keeps arbitrary bytes and empty values for all clients") {
    const std::string bytes("\0\xff\n a", 5);
    a->set("key", bytes);
    a->set(bytes, "its key is not a text");
    a->set("empty", "");
    CHECK(b->get("key") == bytes);
    CHECK(b->get(bytes) == "its key is not a text");
    CHECK(b->get("empty").empty());
    b->set("key", "new");
    CHECK(a->get("key") == "new");
    CHECK(a->num_keys() == 3);
}

TEST_CASE_METHOD(AnyStore, "every store checks, counts and deletes keys") {
    CHECK(a->num_keys() == 0);
    a->set("x", "1");
    a->add("y", 1);
    CHECK(b->num_keys() == 2);
    CHECK(b->check("x"));
    CHECK(b->check(std::vector<std::string>{"x", "y"}));
    CHECK_FALSE(b->check(std::vector<std::string>{"x", "z"}));
    CHECK(b->check(std::vector<std::string>{}));
    CHECK(b->delete_key("x"));
    CHECK_FALSE(b->delete_key("x"));
    CHECK_FALSE(a->check("x"));
    CHECK(a->num_keys() == 1);
    CHECK(contains(failure_of([&] { a->get("x", soon()); }), "Timeout"));
    b->set("x", "again");
    CHECK(a->get("x") == "again");
}

TEST_CASE_METHOD(
    AnyStore,
    "every store adds to integers and rejects other values without changing them") {
    CHECK(a->add("n", 5) == 5);
    CHECK(b->add("n", -7) == -2);
    CHECK(a->add("n", 0) == -2);
    CHECK(b->get("n") == "-2");
    a->set("n", "40");
    CHECK(b->add("n", 2) == 42);
    const int64_t most = std::numeric_limits<int64_t>::max();
    CHECK(a->add("big", most) == most);
    CHECK(contains(failure_of([&] { a->add("big", 1); }),
                   concat("big\" is ", most, "; with 1 it becomes too large")));
    for (const char* const word :
         {"7x", "", " 7", "+7", "0x7", "7\n", "1e3", "9223372036854775808"}) {
        CAPTURE(word);
        a->set("word", word);
        CHECK(contains(failure_of([&] { a->add("word", 1); }),
                       concat("word\" is \"", word, "\", which is not a number")));
        CHECK(a->get("word") == word);
    }
    CHECK(a->get("big") == std::to_string(most));
}

TEST_CASE_METHOD(AnyStore, "compare_set follows PyTorch's rules in every store") {
    // A missing key is set only if the expected value is empty; otherwise the expected
    // value is returned.
    CHECK(a->compare_set("key", "old", "new") == "old");
    CHECK_FALSE(b->check("key"));
    CHECK(a->compare_set("key", "same", "same") == "same");
    CHECK_FALSE(b->check("key"));
    CHECK(a->compare_set("key", "", "first") == "first");
    CHECK(b->get("key") == "first");

    // An existing key is set only if its value equals the expected value.
    CHECK(b->compare_set("key", "", "second") == "first");
    CHECK(b->compare_set("key", "wrong", "second") == "first");
    CHECK(b->compare_set("key", "first", "second") == "second");
    CHECK(a->get("key") == "second");
    CHECK(a->compare_set("key", "second", "") == "");
    CHECK(b->get("key").empty());
}

TEST_CASE_METHOD(AnyStore,
                 "a wait that times out names only the missing keys in every store") {
    a->set("here", "1");
    const std::string text = failure_of([&] {
        a->wait({"gone1", "here", "gone2"}, soon());
    });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: missing in "));
    CHECK(contains(text, ": gone1, gone2 (1 of 3 keys are there)"));
    CHECK(contains(failure_of([&] { a->get("gone", soon()); }),
                   ": gone (0 of 1 keys are there)"));

    // The default timeout is used if no deadline is given.
    a->set_timeout(milliseconds(20));
    CHECK(contains(failure_of([&] { a->get("gone"); }), "Timeout"));
    CHECK(contains(failure_of([&] { a->wait({"gone"}); }), "Timeout"));
    a->set_timeout(kLong);
    a->wait({"here"});
    a->wait({});
    CHECK(a->get("here", deadline_after(milliseconds(0))) == "1");
}

TEST_CASE_METHOD(
    AnyStore,
    "get and wait return in every store after any kind of call that sets the key") {
    auto value = std::async(std::launch::async, [&] {
        b->wait({"set", "added"}, deadline_after(kLong));
        return b->get("compared", deadline_after(kLong));
    });
    CHECK(a->compare_set("compared", "not this", "x") == "not this");
    a->add("added", 1);
    a->set("set", "1");
    CHECK(a->compare_set("compared", "", "3") == "3");
    CHECK(value.get() == "3");
}

TEST_CASE_METHOD(
    AnyStore, "eight threads that add and compare_set never see the same value twice") {
    constexpr int kThreads = 8, kCalls = 25;
    std::vector<std::vector<int64_t>> sums(kThreads);
    std::vector<int> wins(kThreads);
    const auto failures = on_ranks(kThreads, [&](int thread) {
        const auto index = static_cast<size_t>(thread);
        const auto store = shared.client();
        for (int i = 0; i < kCalls; ++i) {
            sums[index].push_back(store->add("counter", 1));

            // Only one of the threads can set the key of turn i.
            const std::string next = concat(i + 1, " by ", thread);
            store->compare_set(concat("turn", i), "", next);
            wins[index] += store->get(concat("turn", i)) == next;
        }
        store->set(concat("done", thread), "");
        std::vector<std::string> all;
        for (int other = 0; other < kThreads; ++other)
            all.push_back(concat("done", other));
        store->wait(all, deadline_after(kLong));
    });
    for (const auto& failure : failures) CHECK(text_of(failure).empty());
    std::set<int64_t> distinct;
    for (const auto& part : sums) distinct.insert(part.begin(), part.end());
    CHECK(distinct.size() == kThreads * kCalls);
    CHECK(*distinct.begin() == 1);
    CHECK(*distinct.rbegin() == kThreads * kCalls);
    CHECK(std::accumulate(wins.begin(), wins.end(), 0) == kCalls);
}

TEST_CASE_METHOD(AnyStore,
                 "keys and values above the size limits are rejected by every store") {
    const std::string long_key(kMaxKeyBytes + 1, 'k');
    const std::string long_value(kMaxValueBytes + 1, 'v');
    CHECK(contains(failure_of([&] { a->set(long_key, ""); }), "65536"));
    CHECK(contains(failure_of([&] { a->add(long_key, 1); }), "65536"));
    CHECK(contains(failure_of([&] { a->set("big", long_value); }), "16777216"));
    CHECK(
        contains(failure_of([&] { a->compare_set("big", "", long_value); }), "16777216"));
    const std::string longest(kMaxValueBytes, 'v');
    a->set("big", longest);
    CHECK(a->compare_set("big", longest, "small") == "small");
    CHECK(a->num_keys() == 1);
}
