// The checks of tasks 10.1 and 10.2: one key of a table, waits with a deadline, a
// barrier. Processes are simulated: a wait of a second takes no real time.

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "labs/10-store-and-rendezvous/store_barrier.hpp"
#include "labs/10-store-and-rendezvous/test_support.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using labs::end_text;
using labs::how;
using labs::run_processes;
using labs::seconds_of;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::contains;

namespace {

constexpr milliseconds kLongWait(5000);

std::string value_of(const StoreTable& table, const std::string& key) {
    const std::string* value = table.find(key);
    return value == nullptr ? "(missing)" : *value;
}

ProcessCluster cluster_of(int processes) {
    return ProcessCluster(processes, parse_links("10Gbit,20us"), 1);
}

// A HashStore that counts the calls of add() and wait().
class CountingStore : public HashStore {
  public:
    using Store::wait;
    int64_t add(const std::string& key, int64_t amount) override {
        ++adds;
        return HashStore::add(key, amount);
    }
    void wait(const std::vector<std::string>& keys, Deadline deadline) override {
        ++waits;
        HashStore::wait(keys, deadline);
    }
    int adds = 0, waits = 0;
};

}  // namespace

// ---- 10.1

TEST_CASE("add counts from 0 and stores a decimal number", "[lab10][lab10.1]") {
    StoreTable table;
    INFO("add(n, 5) of a missing key is 5: a number starts at 0; hint 1 of 10.1");
    CHECK(table.add("n", 5) == 5);
    CHECK(table.add("n", -7) == -2);
    INFO("the value is text, which get() returns");
    CHECK(value_of(table, "n") == "-2");
    table.set("n", "41");
    CHECK(table.add("n", 1) == 42);
    CHECK(table.add("other", 0) == 0);
    INFO("add(other, 0) creates the key as well");
    CHECK(value_of(table, "other") == "0");
}

TEST_CASE("add leaves a value unchanged that is not a number", "[lab10][lab10.1]") {
    for (const char* const value : {"12 apples", "apples", "", " 7", "0x10", "1.5"}) {
        StoreTable table;
        table.set("n", value);
        REQUIRE(table.add("other", 1) == 1);
        INFO("add to the value \"" << value << "\" must throw Error, and not count from");
        INFO("0 or from the digits at its start; hint 2 of 10.1");
        CHECK_THROWS_AS(table.add("n", 1), Error);
        CHECK(value_of(table, "n") == value);
    }
}

TEST_CASE("add throws when the sum does not fit in 64 bits", "[lab10][lab10.1]") {
    const int64_t most = std::numeric_limits<int64_t>::max();
    StoreTable table;
    table.add("high", most);
    INFO("2^63 - 1 plus 1: look for the overflow before you store; hint 2 of 10.1");
    CHECK_THROWS_AS(table.add("high", 1), Error);
    CHECK(value_of(table, "high") == std::to_string(most));
    table.add("low", -most);
    CHECK(table.add("low", -1) == std::numeric_limits<int64_t>::min());
    CHECK_THROWS_AS(table.add("low", -1), Error);
    CHECK(table.add("high", -1) == most - 1);
}

TEST_CASE("compare_set sets a missing key if nothing is expected", "[lab10][lab10.1]") {
    StoreTable table;
    INFO("the first of two ranks gets its own value back, the second that of the first");
    CHECK(table.compare_set("entry", "", "rank 0") == "rank 0");
    CHECK(table.compare_set("entry", "", "rank 1") == "rank 0");
    CHECK(value_of(table, "entry") == "rank 0");
}

TEST_CASE("compare_set replaces only the value that is expected", "[lab10][lab10.1]") {
    StoreTable table;
    table.set("k", "old");
    CHECK(table.compare_set("k", "other", "new") == "old");
    CHECK(value_of(table, "k") == "old");
    CHECK(table.compare_set("k", "old", "new") == "new");
    CHECK(value_of(table, "k") == "new");
    table.set("empty", "");
    INFO("a key with the value \"\" exists, and \"\" is what is expected");
    CHECK(table.compare_set("empty", "", "full") == "full");
}

TEST_CASE("compare_set of a missing key with an expected value sets nothing",
          "[lab10][lab10.1]") {
    StoreTable table;
    INFO("it returns `expected`, as PyTorch's stores do; hint 2 of 10.1");
    CHECK(table.compare_set("k", "old", "new") == "old");
    CHECK(value_of(table, "k") == "(missing)");
    CHECK(table.size() == 0);
}

// ---- 10.2

TEST_CASE("get waits until another rank has set the key", "[lab10][lab10.2]") {
    ProcessCluster cluster = cluster_of(2);
    HashStore store;
    std::string value;
    const auto ends = run_processes(cluster, [&](int process) {
        if (process == 1) {
            sleep_for(milliseconds(700));
            store.set("word", "ready");
        } else {
            value = store.get("word", deadline_after(kLongWait));
        }
    });
    INFO("the key is set after 0.7 s; process 0 " << end_text(ends[0]));
    REQUIRE(how(ends[0]) == "returned");
    CHECK(value == "ready");
    CHECK(seconds_of(ends[0]) >= 0.7);
    CHECK(seconds_of(ends[0]) < 0.71);
}

TEST_CASE("a wait whose keys exist returns, even after its deadline",
          "[lab10][lab10.2]") {
    HashStore store;
    store.set("a", "");
    store.set("b", "");
    INFO("first look, then ask for the time; hint 1 of 10.2");
    CHECK_NOTHROW(store.wait({"a", "b"}, deadline_after(milliseconds(0))));
    CHECK_NOTHROW(store.wait({}, deadline_after(milliseconds(0))));
}

TEST_CASE("a wait ends at its deadline and names only the missing keys",
          "[lab10][lab10.2]") {
    ProcessCluster cluster = cluster_of(2);
    HashStore store;
    const auto ends = run_processes(cluster, [&](int process) {
        if (process == 0)
            return store.wait({"red", "green", "blue"}, deadline_after(seconds(1)));
        // Change another key again and again, for three seconds.
        store.set("green", "");
        for (int i = 0; i < 30; ++i) {
            store.add("other", 1);
            sleep_for(milliseconds(100));
        }
    });
    INFO("red and blue are never set, green is; process 0 " << end_text(ends[0]));
    REQUIRE(how(ends[0]) == "Timeout");
    const std::string text = ends[0].failure->message;
    CHECK(contains(text, "red, blue"));
    CHECK(!contains(text, "green"));
    INFO("the deadline is a moment: it does not move when another key changes");
    CHECK(seconds_of(ends[0]) == 1);
}

TEST_CASE("a wait for two keys does not end with the first", "[lab10][lab10.2]") {
    ProcessCluster cluster = cluster_of(3);
    HashStore store;
    const auto ends = run_processes(cluster, [&](int process) {
        if (process == 0) return store.wait({"1", "2"}, deadline_after(kLongWait));
        sleep_for(milliseconds(300) * process);
        store.set(std::to_string(process), "");
    });
    INFO("key 1 is set after 0.3 s, key 2 after 0.6 s; process 0 " << end_text(ends[0]));
    CHECK(how(ends[0]) == "returned");
    CHECK(seconds_of(ends[0]) >= 0.6);
    CHECK(seconds_of(ends[0]) < 0.61);
}

TEST_CASE("no rank leaves a barrier before all have come", "[lab10][lab10.2]") {
    for (const int P : {1, 2, 3, 4, 7}) {
        ProcessCluster cluster = cluster_of(P);
        CountingStore store;
        std::vector<int> came(3), came_before_first_left(3, -1);
        const auto ends = run_processes(cluster, [&](int rank) {
            for (size_t round = 0; round < 3; ++round) {
                // The ranks come in a different order in each round.
                sleep_for(
                    milliseconds(10 + 7 * ((rank + 3 * static_cast<int>(round)) % P)));
                ++came[round];
                store_barrier(store, "start", rank, P, deadline_after(kLongWait));
                if (came_before_first_left[round] < 0)
                    came_before_first_left[round] = came[round];
            }
        });
        for (size_t rank = 0; rank < ends.size(); ++rank) {
            INFO("world size " << P << ", 3 barriers of one name: rank " << rank << " "
                               << end_text(ends[rank]));
            REQUIRE(how(ends[rank]) == "returned");
        }
        {
            INFO("world size " << P
                               << ": how many had come when the first left, by round");
            INFO("(arrived - 1) / world_size is the round, as the counter goes on");
            INFO("each round has a last key of its own; hint 2 of 10.2");
            CHECK(came_before_first_left == std::vector<int>(3, P));
        }
        INFO("world size " << P << ", 3 barriers: each rank adds once and waits once in "
                           << "each; to ask in a loop, by add() or check(), is wrong");
        CHECK(store.adds == 3 * P);
        CHECK(store.waits == 3 * P);
    }
}

TEST_CASE("a barrier names the rank that has not come", "[lab10][lab10.2]") {
    const int P = 4;
    const int missing = GENERATE(0, 2, 3);
    const int rounds = GENERATE(0, 1, 2);  // in which the missing rank takes part
    ProcessCluster cluster = cluster_of(P);
    HashStore store;
    const auto ends = run_processes(cluster, [&](int rank) {
        for (int round = 0; round <= (rank == missing ? rounds - 1 : rounds); ++round)
            store_barrier(store, "start", rank, P, deadline_after(seconds(1)));
    });
    for (int rank = 0; rank < P; ++rank) {
        if (rank == missing) continue;
        const ProcessEnd& end = ends[static_cast<size_t>(rank)];
        INFO("rank " << missing << " of 4 is missing in round " << rounds << "; rank "
                     << rank << " must throw Timeout, and " << end_text(end));
        REQUIRE(how(end) == "Timeout");
        CHECK(seconds_of(end) == 1);
        INFO(
            "throw_late names each rank that has not set its key of the round, such as "
            "start/0/rank/1, before its wait; hint 2 of 10.2");
        CHECK(contains(end.failure->message, concat("missing: rank ", missing)));
        CHECK(!contains(end.failure->message, concat("rank ", rank)));
    }
}

TEST_CASE("a barrier passes on every error but Timeout", "[lab10][lab10.2]") {
    labs::BrokenStore store;
    INFO(
        "wait() of this store throws Error, long before the deadline: no rank is late, "
        "so catch Timeout only");
    CHECK_THROWS_WITH(store_barrier(store, "start", 0, 2, deadline_after(kLongWait)),
                      std::string(store.kText));
}

TEST_CASE("barriers of two names do not disturb each other", "[lab10][lab10.2]") {
    ProcessCluster cluster = cluster_of(2);
    HashStore store;
    const auto ends = run_processes(cluster, [&](int rank) {
        store_barrier(store, rank == 0 ? "a" : "b", rank, 2, deadline_after(seconds(1)));
    });
    INFO("rank 0 waits in barrier a, rank 1 in barrier b: both wait until the deadline");
    INFO("rank 0 " << end_text(ends[0]));
    CHECK(contains(end_text(ends[0]), "missing: rank 1"));
    INFO("rank 1 " << end_text(ends[1]));
    CHECK(contains(end_text(ends[1]), "missing: rank 0"));
}
