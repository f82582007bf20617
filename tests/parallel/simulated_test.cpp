// Ranks that die within a Join or a step of the sharded optimizer, on simulated processes, in
// virtual time: both need only a process group. (DDP does not run on simulated processes: the
// autograd engine keeps its state in thread-local variables, which simulated processes
// share.)

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/backends/ring.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/join.hpp"
#include "libmini/parallel/zero.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini {
namespace {

using dist::ProcessCluster;
using dist::ProcessEnd;
using std::chrono::milliseconds;
using test::contains;
using Ends = std::vector<ProcessEnd>;

constexpr milliseconds kGroupTimeout(2000);

// Runs a body in the group of all processes.
Ends run_in_group(ProcessCluster& cluster,
                  const std::function<void(std::shared_ptr<dist::ProcessGroup>)>& body) {
    constexpr int kPort = 29500;
    return cluster.run([&](int rank) {
        const std::shared_ptr<dist::ProcessGroup> group = dist::make_ring_group(
            {{cluster.system().address_of(0), kPort}, rank, cluster.process_count()},
            dist::Medium::kTcp, kGroupTimeout);
        body(group);
        group->shutdown();
    });
}

// Runs a job on `processes` processes; runs it again, and kills process `gone` in the middle.
// Checks that every other process threw PeerLost naming it, long before the timeout.
void check_lost(int processes, int gone,
                const std::function<Ends(ProcessCluster&)>& job) {
    ProcessCluster whole(processes, dist::parse_links("10Gbit,20us"), 1);
    for (const ProcessEnd& end : job(whole)) CHECK(end.how == ProcessEnd::How::kReturned);
    ProcessCluster cluster(processes, dist::parse_links("10Gbit,20us"), 1);
    cluster.set_on_step([&](size_t step) {
        if (step == whole.steps() / 2) cluster.kill(gone, dist::Loss::kNone);
    });
    const Ends ends = job(cluster);
    for (int rank = 0; rank < static_cast<int>(ends.size()); ++rank) {
        if (rank == gone) continue;
        const ProcessEnd& end = ends[static_cast<size_t>(rank)];
        CAPTURE(rank, end.failure ? end.failure->message : "");
        REQUIRE(end.how == ProcessEnd::How::kThrew);
        CHECK(end.failure->kind == dist::Failure::Kind::kPeerLost);
        CHECK(
            contains(end.failure->message, "rank " + std::to_string(gone) + " is gone"));
        CHECK(end.time < kGroupTimeout);
    }
}

// A joinable whose iteration is one all_reduce of one value per rank.
class Adding : public parallel::Joinable {
  public:
    explicit Adding(dist::ProcessGroup& group) : group_(group) {}

    void iterate() {
        const auto active = parallel::Join::notify_join_context(*this);
        add(1);
    }

    parallel::JoinHook join_hook(const parallel::JoinOptions&) override {
        return {.main_hook = [this] { add(0); }};
    }
    dist::ProcessGroup& join_process_group() override { return group_; }

  private:
    void add(float value) { group_.all_reduce(Tensor::scalar(value)); }

    dist::ProcessGroup& group_;
};

TEST_CASE("all other ranks name a simulated rank that dies within a Join") {
    const int gone = GENERATE(1, 3);  // an active rank, and a rank that has joined
    check_lost(4, gone, [](ProcessCluster& cluster) {
        return run_in_group(cluster,
                            [](const std::shared_ptr<dist::ProcessGroup>& group) {
                                constexpr std::array kBatches{2, 9, 9, 1};
                                const auto rank = static_cast<size_t>(group->rank());
                                Adding adding(*group);
                                parallel::Join({&adding}).run([&] {
                                    for (int i = 0; i < kBatches[rank]; ++i)
                                        adding.iterate();
                                });
                            });
    });
}

TEST_CASE("all other ranks name a simulated rank that dies while shards are exchanged") {
    const int gone = GENERATE(0, 2);
    const auto make_sgd = [](std::vector<Tensor> own) {
        return std::make_unique<optim::SGD>(std::move(own), optim::SGDOptions{.lr = 0.5});
    };
    check_lost(3, gone, [&](ProcessCluster& cluster) {
        return run_in_group(
            cluster, [&](const std::shared_ptr<dist::ProcessGroup>& group) {
                std::vector<Tensor> parameters;
                for (const int64_t n : {12, 1, 7, 0, 40})
                    parameters.push_back(Tensor::full({n}, 1.0).set_requires_grad());
                parallel::ZeroRedundancyOptimizer optimizer(parameters, make_sgd, group);
                for (int step = 0; step < 4; ++step) {
                    for (Tensor& parameter : parameters)
                        parameter.set_grad(Tensor::ones(parameter.shape()));
                    optimizer.step();
                }
            });
    });
}

}  // namespace
}  // namespace mini
