// The checks of tasks 10.1 and 10.2: one key of a table, a barrier. Processes are
// simulated: a wait of a second takes no real time.

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

// A HashStore that counts its requests.
class CountingStore : public HashStore {
  public:
    int requests = 0;

  protected:
    std::string ask(protocol::Request request, Deadline deadline) override {
        ++requests;
        return HashStore::ask(std::move(request), deadline);
    }
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

TEST_CASE("no rank leaves a barrier before all have come", "[lab10][lab10.2]") {
    for (const int P : {1, 2, 3, 4, 7}) {
        ProcessCluster cluster = cluster_of(P);
        CountingStore store;
        std::vector<int> came(3), came_before_first_left(3, -1);
        std::vector<double> last_came(3), last_left(3);
        const auto now = [] {
            return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
        };
        const auto ends = run_processes(cluster, [&](int rank) {
            for (size_t round = 0; round < 3; ++round) {
                // The ranks come in a different order in each round.
                sleep_for(
                    milliseconds(100 + 700 * ((rank + 3 * static_cast<int>(round)) % P)));
                ++came[round];
                last_came[round] = now();
                store_barrier(store, "start", rank, P, deadline_after(kLongWait));
                last_left[round] = now();
                if (came_before_first_left[round] < 0)
                    came_before_first_left[round] = came[round];
            }
        });
        for (size_t rank = 0; rank < ends.size(); ++rank) {
            INFO("world size " << P << ", 3 barriers of one name: rank " << rank << " "
                               << end_text(ends[rank]));
            REQUIRE(how(ends[rank]) == "returned");
        }
        INFO("world size " << P << ", 3 barriers of one name");
        {
            INFO("how many had come when the first left, by round; hint 2 of 10.2");
            CHECK(came_before_first_left == std::vector<int>(3, P));
        }
        for (size_t round = 0; round < 3; ++round) {
            INFO("all leave when the last one has come; seconds, round " << round);
            CHECK(last_left[round] < last_came[round] + 0.01);
        }
        INFO("a rank that asks in a loop, instead of waiting for a key, sends more");
        CHECK(store.requests <= 3 * P * 5);
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
        INFO("a rank leaves a key of this round in the store before it waits");
        CHECK(contains(end.failure->message, concat("missing: rank ", missing)));
        CHECK(!contains(end.failure->message, concat("rank ", rank)));
    }
}

TEST_CASE("a barrier passes on every error but Timeout", "[lab10][lab10.2]") {
    labs::BrokenStore store;
    INFO("the store throws Error, long before the deadline: no rank is late");
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
