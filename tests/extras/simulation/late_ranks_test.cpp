// Ranks that join late or never: the errors of the other ranks, in virtual time.

#include <netdb.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::contains;

constexpr int kStorePort = 29500;
constexpr milliseconds kPatience(4000);
constexpr const char* kRank0 = "10.0.0.1";

struct Cluster : ProcessCluster {
    explicit Cluster(int P) : ProcessCluster(P, parse_links("10Gbit,20us"), 2) {}
};

// Runs a rendezvous at `host` on all processes but `missing`. Returns how they end.
std::vector<ProcessEnd> join_at(ProcessCluster& cluster, const std::string& host,
                                int missing = -1, bool has_other_hosts = false) {
    return cluster.run([&](int rank) {
        RendezvousConfig config{{host, kStorePort}, rank, cluster.process_count()};
        config.has_other_hosts = has_other_hosts;
        if (rank != missing) join_rendezvous(config, deadline_after(kPatience));
    });
}

// Returns the message of the process's exception; "" if the process returned.
std::string message_of(const ProcessEnd& end) {
    return end.failure ? end.failure->message : "";
}

// Checks that all processes except process `one` threw a Timeout that contains `words`, at
// the deadline.
void check_all_but(int one, const std::vector<ProcessEnd>& ends,
                   const std::string& words) {
    for (int rank = 0; rank < static_cast<int>(ends.size()); ++rank) {
        if (rank == one) continue;
        const ProcessEnd& end = ends[static_cast<size_t>(rank)];
        CAPTURE(rank, message_of(end));
        CHECK(contains(message_of(end), words));
        CHECK((end.failure && end.failure->kind == Failure::Kind::kTimeout));
        CHECK(end.time >= kPatience);
        CHECK(end.time < kPatience + seconds(5));
    }
}

// A client whose first get() sleeps, so that its rank connects late.
class LateStore : public TcpStore {
  public:
    LateStore(const Address& address, milliseconds lateness)
        : TcpStore(address, Cookie{}, deadline_after(kPatience)), lateness_(lateness) {}
    std::string get(const std::string& key, Deadline deadline) override {
        sleep_for(std::exchange(lateness_, milliseconds(0)));
        return TcpStore::get(key, deadline);
    }

  private:
    milliseconds lateness_;
};

TEST_CASE("a missing rank is named by all ranks that wait for it") {
    const int missing = GENERATE(0, 2);
    const std::string host = GENERATE(as<std::string>(), kRank0, "node0");
    Cluster cluster(4);
    cluster.system().add_name("node0", kRank0);
    const auto ends = join_at(cluster, host, missing);
    if (missing == 0)
        check_all_but(0, ends, concat("found no rank 0 at ", host, ":29500"));
    else
        check_all_but(2, ends, "3 of 4 joined; missing: rank 2");
    if (missing == 2 && host == "node0")
        check_all_but(2, ends, "rendezvous at node0:29500 (10.0.0.1:29500): 3 of 4");
}

TEST_CASE("the error for a rank that did not finish joining names its process") {
    Cluster cluster(3);
    const auto ends = cluster.run([&](int rank) {
        const Address master{kRank0, kStorePort};
        if (rank != 2) {
            join_rendezvous({master, rank, 3}, deadline_after(kPatience));
            return;
        }
        TcpStore store(master, Cookie{}, deadline_after(kPatience));
        store.set("rendezvous/rank/2", "3 9 host0 1");
    });
    check_all_but(2, ends,
                  "2 of 3 joined; missing: rank 2 (process 9 on host0 began to join and "
                  "went no further");
}

TEST_CASE("a rank that finds another rank gone during start-up gets that rank's reason") {
    // Rank 1 times out waiting for rank 2, rank 0 fails because of rank 1, and then rank
    // 2 continues. All ranks live until the end, so that rank 0's store stays available.
    Cluster cluster(3);
    const auto ends = cluster.run([&](int rank) {
        const RendezvousConfig config{{kRank0, kStorePort}, rank, 3};
        const Rendezvous met = join_rendezvous(config, deadline_after(kPatience));
        try {
            LateStore store(config.master, rank == 2 ? 2 * kPatience : milliseconds(0));
            const milliseconds patience = rank == 1 ? kPatience : 10 * kPatience;
            connect_mesh(config, store, met.local_host, Medium::kAuto,
                         deadline_after(patience));
        } catch (const Error&) {
            sleep_for(20 * kPatience);
            throw;
        }
    });
    CAPTURE(message_of(ends[0]), message_of(ends[1]), message_of(ends[2]));
    const std::string cause = "rank 1 waited for a connection from rank 2";
    CHECK(contains(message_of(ends[0]), "rank 1 reports: " + cause));
    CHECK(message_of(ends[1]).starts_with(cause));
    CHECK(contains(message_of(ends[2]), "rank 1 reports: " + cause));
    for (const ProcessEnd& end : ends)
        CHECK((end.failure && end.failure->kind == Failure::Kind::kTimeout));
}

TEST_CASE("ranks wait for the host name of rank 0 to appear, or to move to rank 0") {
    const int error =
        GENERATE(0, EAI_NONAME, EAI_AGAIN, EAI_NODATA, EAI_FAIL, EAI_SYSTEM);
    CAPTURE(error);
    Cluster cluster(3);
    if (error == 0)
        cluster.system().add_name("node0", "10.0.0.2");
    else
        cluster.system().set_look_up_error(error);
    cluster.at(seconds(20), [&] { cluster.system().add_name("node0", kRank0); });
    const auto ends = cluster.run([&](int rank) {
        if (error == 0 && rank == 0) sleep_for(seconds(20));
        const RendezvousConfig config{{"node0", kStorePort}, rank, 3};
        make_ring_group(config, Medium::kTcp, seconds(30))->barrier();
    });
    for (const ProcessEnd& end : ends) {
        CAPTURE(message_of(end));
        CHECK(end.how == ProcessEnd::How::kReturned);
        CHECK(end.time >= seconds(20));
        CHECK(end.time < seconds(22));
    }
}

TEST_CASE("the Timeout for a host name that never appears names it") {
    Cluster cluster(2);
    check_all_but(-1, join_at(cluster, "node0"),
                  "cannot resolve the host name \"node0\": Name or service");
}

TEST_CASE("an address at which the other ranks cannot find rank 0 is an error at once") {
    struct Case {
        std::string host;
        std::vector<std::string> words;
    };
    const Case one = GENERATE(values<Case>(
        {{"host0", {"listens on 127.0.1.1:29500 for host0", "set MASTER_ADDR"}},
         {"host0.cluster",
          {"listens on 127.0.1.1:29500 for host0.cluster", "set MASTER_ADDR"}},
         {"0.0.0.0", {"set MINI_ADVERTISE_ADDR"}},
         {"node0:29500", {"\"node0:29500\""}},
         {"http://node0", {"\"http://node0\""}},
         {"node 0", {"\"node 0\""}}}));
    Cluster cluster(2);
    for (const char* const name : {"host0", "host0.cluster"})
        cluster.system().add_name(name, "127.0.1.1");
    const bool is_text = contains(one.words.front(), "\"");
    const auto ends = join_at(cluster, one.host, is_text ? -1 : 1, !is_text);
    for (const ProcessEnd& end : ends) {
        if (!is_text && &end == &ends[1]) continue;
        CAPTURE(message_of(end));
        for (const std::string& words : one.words)
            CHECK(contains(message_of(end), words));
        CHECK(end.time < seconds(1));
    }
}

}  // namespace
}  // namespace mini::dist
