// Ranks that join late or never: the errors of the other ranks, in virtual time.

#include <netdb.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/extras/simulation/late_ends.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::contains;

constexpr int kStorePort = 29500;

RendezvousConfig at_rank_0(ProcessCluster& cluster, int rank, int world_size) {
    return {{cluster.system().address_of(0), kStorePort}, rank, world_size};
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

TEST_CASE("monitored_barrier names the first missing rank or all missing ranks") {
    for (const bool all : {false, true}) {
        ProcessCluster cluster(4, parse_links("10Gbit,20us"), 2);
        const auto ends = cluster.run([&](int rank) {
            const auto group = make_ring_group(at_rank_0(cluster, rank, 4), Medium::kTcp,
                                               10 * kPatience);
            if (rank >= 2) return sleep_for(10 * kPatience);
            monitored_barrier(*group, {.timeout = kPatience, .wait_all_ranks = all});
        });
        REQUIRE(ends[0].how == ProcessEnd::How::kThrew);
        CHECK(ends[0].failure->kind == Failure::Kind::kTimeout);
        CHECK(contains(message_of(ends[0]),
                       all ? "monitored_barrier: rank 2, 3 did not reach it in 4 s"
                           : "monitored_barrier: rank 2 did not reach it in 4 s"));
        CHECK(ends[1].how == ProcessEnd::How::kThrew);
    }
}

TEST_CASE("a missing rank is named by all ranks that wait for it") {
    for (const int missing : {0, 2}) {
        ProcessCluster cluster(4, parse_links("10Gbit,20us"), 2);
        const auto ends = cluster.run([&](int rank) {
            if (rank == missing) return;
            const Rendezvous result =
                join_rendezvous(at_rank_0(cluster, rank, 4), deadline_after(kPatience));
        });
        for (const size_t rank : {1, 3})
            CHECK(ends[rank].failure->kind == Failure::Kind::kTimeout);
        check_all_but(missing, ends,
                      missing == 0 ? "found no rank 0 at 10.0.0.1:29500"
                                   : "3 of 4 joined; missing: rank 2");
    }
}

TEST_CASE("a rank that finds another rank gone during start-up gets that rank's reason") {
    // Rank 1 times out waiting for rank 2, rank 0 fails because of rank 1, and then rank
    // 2 continues. All ranks live until the end, so that rank 0's store stays available.
    ProcessCluster cluster(3, parse_links("10Gbit,20us"), 2);
    const auto ends = cluster.run([&](int rank) {
        const RendezvousConfig config = at_rank_0(cluster, rank, 3);
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

TEST_CASE("ranks wait for the host name of rank 0 to appear") {
    const int error = GENERATE(EAI_NONAME, EAI_AGAIN, EAI_NODATA, EAI_FAIL, EAI_SYSTEM);
    CAPTURE(error);
    ProcessCluster cluster(3, parse_links("10Gbit,20us"), 2);
    cluster.system().set_look_up_error(error);
    cluster.at(seconds(20), [&] { cluster.system().add_name("node0", "10.0.0.1"); });
    const auto ends = cluster.run([&](int rank) {
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

TEST_CASE("a rank follows the host name of rank 0 to another address") {
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 2);
    cluster.system().add_name("node0", "10.0.0.2");
    cluster.at(seconds(10), [&] { cluster.system().add_name("node0", "10.0.0.1"); });
    const auto ends = cluster.run([&](int rank) {
        if (rank == 0) sleep_for(seconds(11));
        const RendezvousConfig config{{"node0", kStorePort}, rank, 2};
        make_ring_group(config, Medium::kTcp, seconds(30))->barrier();
    });
    for (const ProcessEnd& end : ends) CHECK(end.how == ProcessEnd::How::kReturned);
}

TEST_CASE("the Timeout for a host name that never appears names it") {
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 2);
    const auto ends = cluster.run([&](int rank) {
        join_rendezvous({{"node0", kStorePort}, rank, 2}, deadline_after(kPatience));
    });
    check_all_but(-1, ends, "cannot resolve the host name \"node0\": Name or service");
    for (const ProcessEnd& end : ends)
        CHECK(end.failure->kind == Failure::Kind::kTimeout);
}

TEST_CASE("the error for a missing rank contains the number of rank 0's name") {
    ProcessCluster cluster(3, parse_links("10Gbit,20us"), 2);
    cluster.system().add_name("node0", "10.0.0.1");
    const auto ends = cluster.run([&](int rank) {
        if (rank == 2) return;
        join_rendezvous({{"node0", kStorePort}, rank, 3}, deadline_after(kPatience));
    });
    check_all_but(2, ends, "rendezvous at node0:29500 (10.0.0.1:29500): 2 of 3 joined");
}

TEST_CASE("rank 0 of a job on several hosts does not listen on a loopback address") {
    const std::string name = GENERATE("host0", "host0.cluster");
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 2);
    cluster.system().add_name(name, "127.0.1.1");
    const auto ends = cluster.run([&](int rank) {
        if (rank != 0) return;
        RendezvousConfig config{{name, kStorePort}, rank, 2};
        config.has_other_hosts = true;
        join_rendezvous(config, deadline_after(kPatience));
    });
    CAPTURE(message_of(ends[0]));
    CHECK(contains(message_of(ends[0]), "listens on 127.0.1.1:29500 for " + name));
    CHECK(contains(message_of(ends[0]), "set MASTER_ADDR"));
    CHECK(ends[0].time < seconds(1));
}

TEST_CASE("0.0.0.0 as MASTER_ADDR on several hosts needs MINI_ADVERTISE_ADDR") {
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 2);
    const auto ends = cluster.run([&](int rank) {
        if (rank != 0) return;
        RendezvousConfig config{{"0.0.0.0", kStorePort}, rank, 2};
        config.has_other_hosts = true;
        join_rendezvous(config, deadline_after(kPatience));
    });
    CHECK(contains(message_of(ends[0]), "set MINI_ADVERTISE_ADDR"));
}

TEST_CASE("a text that cannot be a host name is an error without a wait") {
    const std::string host = GENERATE("node0:29500", "http://node0", "node 0");
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 2);
    const auto ends = cluster.run([&](int rank) {
        join_rendezvous({{host, kStorePort}, rank, 2}, deadline_after(kPatience));
    });
    for (const ProcessEnd& end : ends) {
        CHECK(contains(message_of(end), "\"" + host + "\""));
        CHECK(end.time < seconds(1));
    }
}

}  // namespace
}  // namespace mini::dist
