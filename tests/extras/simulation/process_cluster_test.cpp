// Whole jobs on simulated processes: store, rendezvous, mesh, and process groups. Faults are
// those of fault_search (tests/faults/search) and of the checks of lab 17.

#include "libmini/extras/simulation/process_cluster.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/support/catch.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using End = ProcessEnd::How;

constexpr milliseconds kJobTimeout(2000);
constexpr int kMasterPort = 29500;

RendezvousConfig config_of(ProcessCluster& cluster, int rank, int world_size) {
    return {{cluster.system().address_of(0), kMasterPort}, rank, world_size};
}

// Checks that all processes have returned.
void check_returned(const std::vector<ProcessEnd>& ends) {
    for (const ProcessEnd& end : ends) {
        CAPTURE(end.failure ? end.failure->message : "");
        CHECK(end.how == End::kReturned);
    }
}

TEST_CASE("simulated processes meet at a store, and get waits until a key is set") {
    ProcessCluster cluster(3, parse_links("1Gbit,1ms"), 5);
    std::vector<std::string> values(3);
    const auto ends = cluster.run([&](int process) {
        const Address place{cluster.system().address_of(0), kMasterPort};
        std::unique_ptr<TcpStoreServer> server;
        if (process == 0) server = std::make_unique<TcpStoreServer>(place, Cookie{});
        TcpStore store(place, Cookie{}, deadline_after(kJobTimeout));
        if (process == 2) sleep_for(milliseconds(700));
        if (process == 2) store.set("word", "ready");
        values[static_cast<size_t>(process)] =
            store.get("word", deadline_after(kJobTimeout));
        store.add("done", 1);
        while (process == 0 && store.add("done", 0) < 3) sleep_for(milliseconds(1));
    });
    check_returned(ends);
    CHECK(values == std::vector<std::string>(3, "ready"));
    CHECK(cluster.now() >= milliseconds(700));
    CHECK(cluster.now() < milliseconds(800));
}

TEST_CASE("a member may leave a subgroup as soon as new_group has returned") {
    ProcessCluster cluster(3, parse_links("10Gbit,20us"), 1);
    const auto ends = cluster.run([&](int rank) {
        const auto world =
            make_ring_group(config_of(cluster, rank, 3), Medium::kTcp, kJobTimeout);
        // Rank 2 is slow between its connection to rank 0 and its connection to rank 1.
        if (rank == 2)
            cluster.at(cluster.now(), [&] { cluster.slow_down(2, milliseconds(5)); });
        world->barrier();
        const auto group = world->new_group({0, 1, 2});
        if (rank == 0) group->shutdown();
        world->barrier();
    });
    check_returned(ends);
}

TEST_CASE("asynchronous collectives and messages run on simulated threads") {
    ProcessCluster cluster(3, parse_links("1Gbit,100us"), 6);
    const auto ends = cluster.run([&](int rank) {
        const auto group =
            make_ring_group(config_of(cluster, rank, 3), Medium::kTcp, kJobTimeout);
        std::vector<Tensor> tensors;
        std::vector<WorkHandle> works;
        for (size_t count : {1, 1000, 30'000}) {
            tensors.push_back(Tensor::from(std::vector<float>(count, 2.0f)));
            works.push_back(group->all_reduce_async(tensors.back()));
        }
        Tensor word = Tensor::from(std::vector<float>{static_cast<float>(rank)});
        if (rank == 0) group->send(word, 2, 7);
        if (rank == 2) group->recv(word, 0, 7);
        for (const WorkHandle& work : works) work->wait();
        for (const Tensor& tensor : tensors)
            if (tensor.to_vector<float>()[0] != 6.0f) throw Error("wrong sum");
        if (rank == 2 && word.to_vector<float>()[0] != 0.0f) throw Error("wrong word");
        group->shutdown();
    });
    check_returned(ends);
}

TEST_CASE("the timeout of a queued operation starts when the operation starts") {
    ProcessCluster cluster(2, parse_links("10Gbit,20us"), 8);
    const auto ends = cluster.run([&](int rank) {
        const auto group =
            make_ring_group(config_of(cluster, rank, 2), Medium::kTcp, kJobTimeout);
        // Each operation of rank 0 waits for rank 1; the waits together exceed a timeout.
        std::vector<WorkHandle> works;
        for (int i = 0; i < 3; ++i) {
            if (rank == 0) works.push_back(group->barrier_async());
        }
        for (int i = 0; i < 3; ++i) {
            if (rank == 0) {
                works[static_cast<size_t>(i)]->wait();
            } else {
                sleep_for(kJobTimeout * 9 / 10);
                group->barrier();
            }
        }
        group->shutdown();
    });
    check_returned(ends);
    CHECK(cluster.now() > 2 * kJobTimeout);
}

TEST_CASE(
    "a short network partition delays a job, and a permanent partition ends the job") {
    for (const bool heals : {true, false}) {
        ProcessCluster cluster(4, parse_links("10Gbit,20us"), 7);
        std::vector<char> has_joined(4);
        bool was_apart = false;
        const auto set_apart = [&](bool apart) {
            for (const int a : {0, 1})
                for (const int b : {2, 3}) {
                    apart ? cluster.hold(a, b) : cluster.release(a, b);
                    apart ? cluster.hold(b, a) : cluster.release(b, a);
                }
        };
        cluster.set_on_step([&](size_t) {
            if (was_apart || has_joined != std::vector<char>(4, 1)) return;
            set_apart(was_apart = true);
            if (heals)
                cluster.at(cluster.now() + kJobTimeout / 2, [&] { set_apart(false); });
        });
        const auto ends = cluster.run([&](int rank) {
            const auto group =
                make_ring_group(config_of(cluster, rank, 4), Medium::kTcp, kJobTimeout);
            has_joined[static_cast<size_t>(rank)] = 1;
            for (int call = 0; call < 20; ++call) {
                Tensor data = Tensor::from(std::vector<float>(1000, 1.0f));
                group->all_reduce(data);
            }
            group->shutdown();
        });
        CHECK(was_apart);
        CHECK(cluster.now() >= (heals ? kJobTimeout / 2 : kJobTimeout));
        for (const ProcessEnd& end : ends) {
            CAPTURE(end.failure ? end.failure->message : "");
            CAPTURE(heals);
            CHECK(end.how == (heals ? End::kReturned : End::kThrew));
        }
    }
}

// fault_search once found that the ranks searched for 250 ms without a pause.
TEST_CASE(
    "ranks soon name the rank that was killed, and pause while they search for it") {
    const Loss loss = GENERATE(Loss::kNone, Loss::kHalf, Loss::kAll);
    for (size_t step = 20; step < 120; step += 5) {
        ProcessCluster cluster(3, parse_links("10Gbit,20us"), step);
        cluster.set_on_step([&](size_t now) {
            if (now == step) cluster.kill(0, loss);
        });
        const auto ends = run_mesh(cluster, [](GroupTransport& transport) {
            for (uint64_t call = 0; call < 3; ++call) {
                std::vector<float> data(1000, 1.0f);
                transport.begin({.operation = Operation::kAllReduce,
                                 .count = data.size(),
                                 .sequence = call},
                                kJobTimeout);
                ring_all_reduce(transport, Elements(std::span(data)), ReduceOp::kSum);
            }
        });
        CHECK(ends[0].how == End::kKilled);
        for (const size_t rank : {1, 2}) {
            REQUIRE(ends[rank].how == End::kThrew);
            CAPTURE(rank, static_cast<int>(loss), ends[rank].failure->message);
            CHECK(ends[rank].failure->kind == Failure::Kind::kPeerLost);
            CHECK(ends[rank].failure->rank == 0);
            CHECK(ends[rank].time < milliseconds(600));
        }
        CHECK(cluster.steps() < 5000);
    }
}

}  // namespace
}  // namespace mini::dist
