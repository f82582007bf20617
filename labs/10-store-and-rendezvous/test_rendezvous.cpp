// The checks of task 10.6: the registrations of a rendezvous, and the result
// on which all ranks agree. Processes are simulated: a wait of five seconds takes no
// real time.

#include <chrono>
#include <string>
#include <vector>

#include "labs/10-store-and-rendezvous/test_support.hpp"
#include "labs/check/both_values.hpp"
#include "libmini/distributed/rendezvous/agreement.hpp"
#include "libmini/distributed/rendezvous/registration.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/store/store_service.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using labs::ContainsSubstring;
using labs::end_text;
using labs::how;
using labs::run_processes;
using labs::seconds_of;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

RendezvousConfig rank_config(int rank, int world_size) {
    return {{"10.0.0.1", 29500}, rank, world_size};
}

Deadline past() { return deadline_after(milliseconds(0)); }

// Calls register_rank() with a deadline that has passed: all keys that it reads must
// exist.
std::string take_now(Store& store, const RendezvousConfig& config,
                     const std::string& local_host = "10.0.0.1") {
    return register_rank(store, config, local_host, past());
}

const std::string kResultKey = "rendezvous/result";

// Returns what agree() throws: "Timeout: ..." or "Error: ..."; "" if it returns.
std::string agreement(Store& store, const RendezvousConfig& config, Deadline deadline) {
    try {
        agree(store, config, "10.0.0.1", deadline);
        return "";
    } catch (const NotImplemented&) {
        throw;
    } catch (const Timeout& timeout) {
        return concat("Timeout: ", timeout.what());
    } catch (const Error& error) {
        return concat("Error: ", error.what());
    }
}

struct Member {
    int rank = 0, world_size = 0;
    milliseconds starts{0}, timeout = seconds(5);
};

// Lets process i join as members[i]; a member with world size 0 does not join. Returns
// how each process ended.
std::vector<ProcessEnd> join_as(ProcessCluster& cluster,
                                const std::vector<Member>& members) {
    // If task 10.3 or 10.4 is not started, throw NotImplemented here, not in the server's
    // thread.
    StoreClient client;
    StoreService([](auto&&...) {}).handle(client, {.key = "k"});
    std::string nothing;
    protocol::take_request(nothing);
    return run_processes(cluster, [&](int process) {
        const Member& member = members[static_cast<size_t>(process)];
        if (member.world_size == 0) return;
        sleep_for(member.starts);
        RendezvousConfig config = rank_config(member.rank, member.world_size);
        config.master.host = cluster.system().address_of(0);
        part(join_rendezvous(config, deadline_after(member.timeout)),
             deadline_after(seconds(1)));
    });
}

ProcessCluster one_host_each(size_t processes) {
    return ProcessCluster(static_cast<int>(processes), parse_links("10Gbit,20us"), 3);
}

// Checks that all processes except `absent` threw an error of this kind (see how()) with
// the same message. Returns the message.
std::string common_failure(const std::vector<ProcessEnd>& ends, const std::string& kind,
                           int absent = -1) {
    std::string text;
    for (size_t i = 0; i < ends.size(); ++i) {
        if (static_cast<int>(i) == absent) continue;
        INFO("process " << i << " " << end_text(ends[i]));
        INFO(
            "every process must throw the result that was set first. One that was "
            "released reads it at once, with set_result: it must hold already, or the "
            "process says ok; hint 2 of 10.6");
        REQUIRE(how(ends[i]) == kind);
        if (text.empty()) text = ends[i].failure->message;
        INFO("another process threw: " << text);
        CHECK(ends[i].failure->message == text);
    }
    return text;
}

}  // namespace

// ---- 10.6, registrations

TEST_CASE("a rank registers and compares with rank 0", "[lab10][lab10.6]") {
    for (const int P : {1, 2, 3, 4, 7}) {
        HashStore store;
        for (int rank = 0; rank < P; ++rank) {
            INFO("world size " << P << ": rank " << rank << " has no error to report");
            CHECK(take_now(store, rank_config(rank, P)) == "");
            INFO("its registration is in the store");
            REQUIRE(store.check(registration_key(rank)));
            const Registration registration =
                parse_registration(store.get(registration_key(rank), past()));
            CHECK(registration.world_size == P);
            CHECK(registration.process == system().process_id());
        }
        CHECK(store.num_keys() == P);
    }
}

TEST_CASE("the second process of a rank is told so, without waiting",
          "[lab10][lab10.6]") {
    HashStore store;
    const std::string other = to_text(Registration{4, 77, "elsewhere", 5});
    store.set(registration_key(2), other);
    INFO(
        "process 77 has registered as rank 2; rank 0 has not come, and is not needed to "
        "see the error; hint 1 of 10.6");
    std::string text;
    CHECK_NOTHROW(text = take_now(store, rank_config(2, 4)));
    CHECK_THAT(text, ContainsSubstring("two processes have RANK 2"));
    CHECK_THAT(text, ContainsSubstring("process 77 on elsewhere"));
    INFO("the registration stays that of the first process");
    CHECK(store.get(registration_key(2), past()) == other);
}

TEST_CASE("a rank is registered in one step", "[lab10][lab10.6]") {
    labs::InterruptedStore store(registration_key(0),
                                 to_text(Registration{1, 77, "elsewhere", 5}));
    take_now(store, rank_config(0, 1));
    INFO(
        "between `check` or `get`, and `set`, process 77 registered the same rank, and "
        "was overwritten: compare_set does both in one step; hint 1 of 10.6");
    CHECK(store.lost == 0);
}

TEST_CASE("a registration with the same process id is still another one",
          "[lab10][lab10.6]") {
    HashStore store;
    store.set(registration_key(0),
              to_text(Registration{2, system().process_id(), system().host_name(), 1}));
    INFO(
        "containers of one image may all be process 1 on the same host name: the random "
        "number tells them apart; hint 2 of 10.6");
    CHECK_THAT(take_now(store, rank_config(0, 2)),
               ContainsSubstring("two processes have RANK 0"));
}

TEST_CASE("a rank with another world size than rank 0 is told so", "[lab10][lab10.6]") {
    HashStore store;
    store.set(registration_key(0), to_text(Registration{4, 77, "elsewhere", 5}));
    const std::string text = take_now(store, rank_config(1, 3));
    INFO("rank 0 has WORLD_SIZE 4, rank 1 has 3; register_rank returned \"" << text
                                                                            << '"');
    CHECK_THAT(text, ContainsSubstring("was started with WORLD_SIZE 3"));
    CHECK_THAT(text, ContainsSubstring("with 4;"));
}

TEST_CASE("over a file, ranks of two hosts need addresses", "[lab10][lab10.6]") {
    HashStore store;
    store.set(registration_key(0), to_text(Registration{2, 77, "elsewhere", 5}));
    RendezvousConfig config = rank_config(1, 2);
    config.file = "/shared/rendezvous";
    INFO("host_fault() is asked last; it takes rank 0's registration, then this rank's");
    const std::string text = take_now(store, config, "127.0.0.1");
    CHECK_THAT(text, ContainsSubstring("and rank 0 on elsewhere"));
}

TEST_CASE("a rank that comes first waits for rank 0's registration", "[lab10][lab10.6]") {
    ProcessCluster cluster = one_host_each(3);
    HashStore store;
    std::vector<std::string> texts(3, "none");
    const auto ends = run_processes(cluster, [&](int rank) {
        if (rank == 0) sleep_for(milliseconds(300));
        texts[static_cast<size_t>(rank)] = register_rank(
            store, rank_config(rank, 3), "10.0.0.1", deadline_after(seconds(1)));
    });
    CHECK(texts == std::vector<std::string>(3));
    for (const ProcessEnd& end : ends) {
        INFO("rank 0 comes after 0.3 s; a rank " << end_text(end));
        CHECK(how(end) == "returned");
        CHECK(seconds_of(end) >= 0.3);
        CHECK(seconds_of(end) < 0.31);
    }
}

TEST_CASE("a rank that waits for rank 0 has registered before", "[lab10][lab10.6]") {
    ProcessCluster cluster = one_host_each(1);
    HashStore store;
    const auto ends = run_processes(cluster, [&](int) {
        register_rank(store, rank_config(1, 2), "10.0.0.1", deadline_after(seconds(1)));
    });
    INFO("rank 0 does not come, and the deadline is after 1 s; rank 1 "
         << end_text(ends[0]));
    INFO("each call that waits takes the deadline; hint 2 of 10.6");
    REQUIRE(how(ends[0]) == "Timeout");
    CHECK(seconds_of(ends[0]) == 1);
    INFO("a rank writes its own entry before it waits");
    CHECK(store.check(registration_key(1)));
}

// ---- 10.6, results

TEST_CASE("ranks that come in any order join", "[lab10][lab10.6]") {
    for (const int P : {1, 2, 3, 4, 7}) {
        std::vector<Member> members;
        for (int rank = 0; rank < P; ++rank)
            members.push_back({rank, P, milliseconds(100 * ((rank + 2) % P))});
        ProcessCluster cluster = one_host_each(members.size());
        const auto ends = join_as(cluster, members);
        for (size_t rank = 0; rank < ends.size(); ++rank) {
            INFO("world size " << P << ": rank " << rank << " " << end_text(ends[rank]));
            CHECK(how(ends[rank]) == "returned");
            INFO("no rank may go on before the last one has come, after "
                 << (P - 1) / 10.0 << " s");
            CHECK(seconds_of(ends[rank]) >= (P - 1) / 10.0);
        }
    }
}

TEST_CASE("a rank that does not come is named by all others", "[lab10][lab10.6]") {
    const int absent = GENERATE(1, 2, 3);
    std::vector<Member> members = {{0, 4}, {1, 4}, {2, 4}, {3, 4}};
    members[static_cast<size_t>(absent)].world_size = 0;
    ProcessCluster cluster = one_host_each(4);
    const auto ends = join_as(cluster, members);
    INFO("rank " << absent << " of 4 does not come");
    const std::string text = common_failure(ends, "Timeout", absent);
    INFO("they threw: " << text);
    INFO("make the text before release(), which sets all joined keys; hint 2 of 10.6");
    CHECK_THAT(text,
               ContainsSubstring(concat("3 of 4 joined; missing: rank ", absent, ";")));
}

TEST_CASE("all ranks fail at the first deadline, for the same reason",
          "[lab10][lab10.6]") {
    const std::vector<Member> members = {{0, 4, milliseconds(0), seconds(60)},
                                         {1, 4, milliseconds(0), seconds(2)},
                                         {0, 0},
                                         {3, 4, milliseconds(0), seconds(60)}};
    ProcessCluster cluster = one_host_each(4);
    const auto ends = join_as(cluster, members);
    const std::string text = common_failure(ends, "Timeout", 2);
    CHECK_THAT(text, ContainsSubstring("missing: rank 2;"));
    INFO(
        "rank 1's deadline is after 2 s, that of ranks 0 and 3 after 60 s: a rank that "
        "gives up must release the others; hint 2 of 10.6");
    for (const ProcessEnd& end : ends) CHECK(seconds_of(end) < 10);
}

TEST_CASE("two processes of one rank stop all ranks at once", "[lab10][lab10.6]") {
    ProcessCluster cluster = one_host_each(4);
    const auto ends = join_as(
        cluster, {{0, 3}, {1, 3}, {2, 3, milliseconds(100)}, {1, 3, milliseconds(5)}});
    const std::string text = common_failure(ends, "Error");
    CHECK_THAT(text, ContainsSubstring("two processes have RANK 1"));
    for (const ProcessEnd& end : ends) CHECK(seconds_of(end) < 4);
}

TEST_CASE("two world sizes stop all ranks at once", "[lab10][lab10.6]") {
    ProcessCluster cluster = one_host_each(3);
    const auto ends = join_as(cluster, {{0, 4}, {1, 4}, {2, 3}});
    const std::string text = common_failure(ends, "Error");
    INFO("rank 2 has WORLD_SIZE 3, the others 4; they threw: " << text);
    CHECK_THAT(text, ContainsSubstring("WORLD_SIZE 3"));
    for (const ProcessEnd& end : ends) CHECK(seconds_of(end) < 4);
}

TEST_CASE("a result that is set holds for those who come later", "[lab10][lab10.6]") {
    HashStore store;
    store.set(kResultKey, "timeout: rank 7 was missing");
    INFO("the others have given up, as rank 7 was missing; all who join now must fail");
    CHECK(agreement(store, rank_config(0, 1), past()) == "Timeout: rank 7 was missing");
    CHECK(store.get(kResultKey, past()) == "timeout: rank 7 was missing");
}

TEST_CASE("the result is set in one step", "[lab10][lab10.6]") {
    labs::InterruptedStore store(kResultKey, "ok");
    agreement(store, rank_config(0, 2), past());
    INFO(
        "between `check` or `get`, and `set`, another rank set the result ok and went "
        "on; this one has overwritten it: compare_set does both in one step; hint 1 of "
        "10.6");
    CHECK(store.lost == 0);
}

TEST_CASE("a rank that is late accepts that the others went on", "[lab10][lab10.6]") {
    HashStore store;
    store.set(kResultKey, "ok");
    INFO(
        "the deadline of rank 0 has passed, but another rank saw all join and said ok: "
        "it goes on, and so must this one; hint 1 of 10.6");
    CHECK(agreement(store, rank_config(0, 2), past()) == "");
}

TEST_CASE("a rank that contradicts another fails, whatever the result",
          "[lab10][lab10.6]") {
    HashStore store;
    store.set(kResultKey, "ok");
    store.set(registration_key(1), to_text(Registration{2, 77, "elsewhere", 5}));
    const std::string text = agreement(store, rank_config(1, 2), past());
    INFO("ranks 0 and 1 have joined and gone on; a second rank 1 comes, and got: \""
         << text << '"');
    CHECK(text.starts_with("Error: two processes have RANK 1"));
    CHECK(store.get(kResultKey, past()) == "ok");
}

TEST_CASE("every error but Timeout is passed on", "[lab10][lab10.6]") {
    labs::BrokenStore store;
    const std::string text =
        agreement(store, rank_config(0, 2), deadline_after(seconds(5)));
    INFO(
        "the store throws Error, long before the deadline: no rank is late, "
        "so catch Timeout only");
    CHECK(text == concat("Error: ", store.kText));
    CHECK(!store.check(kResultKey));
}

TEST_CASE("a rank that gives up leaves a result and wakes all", "[lab10][lab10.6]") {
    HashStore store;
    const std::string text = agreement(store, rank_config(0, 3), past());
    INFO("rank 0 of 3 is alone at its deadline; it threw " << text);
    CHECK_THAT(text,
               ContainsSubstring("Timeout: rendezvous at 10.0.0.1:29500: 1 of 3 joined"));
    CHECK_THAT(text, ContainsSubstring("missing: rank 1, rank 2;"));
    REQUIRE(store.check(kResultKey));
    INFO("all joined keys are set, so that no rank waits on");
    CHECK(store.check(
        std::vector<std::string>{joined_key(0), joined_key(1), joined_key(2)}));
}
