// Join and the sharded optimizer on simulated processes, in virtual time: both need only
// a process group. (DDP does not run on simulated processes: the autograd engine keeps
// its state in thread-local variables, which simulated processes share.)

#include <algorithm>
#include <chrono>
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

// Kills a process in the middle of a job that takes `steps` steps.
void kill_halfway(ProcessCluster& cluster, int process, size_t steps) {
    cluster.set_on_step([&cluster, process, steps](size_t step) {
        if (step == steps / 2) cluster.kill(process, dist::Loss::kNone);
    });
}

// Checks that every process but `gone` threw PeerLost naming it, long before the timeout.
void check_lost(const Ends& ends, int gone) {
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

// ---- Join

// A joinable whose iteration is one all_reduce of one value per rank.
class Adding : public parallel::Joinable {
  public:
    explicit Adding(dist::ProcessGroup& group) : group_(group) {}

    float iterate() {
        const auto active = parallel::Join::notify_join_context(*this);
        return add(1);
    }
    float add(float value) {
        Tensor x = Tensor::scalar(value);
        group_.all_reduce(x);
        return static_cast<float>(x.item());
    }

    parallel::JoinHook join_hook(const parallel::JoinOptions&) override {
        return {.main_hook = [this] { add(0); }};
    }
    dist::ProcessGroup& join_process_group() override { return group_; }

  private:
    dist::ProcessGroup& group_;
};

using Sums = std::vector<std::vector<float>>;

// Runs a Join in which rank r has batches[r] iterations; sets sums[r] to their sums.
Ends add_unevenly(ProcessCluster& cluster, const std::vector<int>& batches, Sums& sums) {
    sums.assign(batches.size(), {});
    return run_in_group(cluster, [&](const std::shared_ptr<dist::ProcessGroup>& group) {
        const auto rank = static_cast<size_t>(group->rank());
        Adding adding(*group);
        parallel::Join({&adding}).run([&] {
            for (int i = 0; i < batches[rank]; ++i)
                sums[rank].push_back(adding.iterate());
        });
    });
}

TEST_CASE("simulated ranks that have joined shadow the others in every event order") {
    const std::vector<int> batches =
        GENERATE(std::vector<int>{3}, std::vector<int>{0, 3, 1},
                 std::vector<int>{2, 5, 5, 0}, std::vector<int>{1, 2, 3, 4, 3, 2, 1});
    for (uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(batches, seed);
        ProcessCluster cluster(static_cast<int>(batches.size()),
                               dist::parse_links("10Gbit,20us"), seed);
        Sums sums;
        for (const ProcessEnd& end : add_unevenly(cluster, batches, sums))
            CHECK(end.how == ProcessEnd::How::kReturned);
        for (size_t rank = 0; rank < batches.size(); ++rank) {
            std::vector<float> expected;
            for (int i = 0; i < batches[rank]; ++i)
                expected.push_back(static_cast<float>(std::ranges::count_if(
                    batches, [&](int count) { return count > i; })));
            CHECK(sums[rank] == expected);
        }
    }
}

TEST_CASE("all other ranks name a simulated rank that dies within a Join") {
    const std::vector<int> batches{2, 9, 9, 1};
    Sums sums;
    ProcessCluster whole(4, dist::parse_links("10Gbit,20us"), 1);
    add_unevenly(whole, batches, sums);
    const int gone = GENERATE(1, 3);  // an active rank, and a rank that has joined
    ProcessCluster cluster(4, dist::parse_links("10Gbit,20us"), 1);
    kill_halfway(cluster, gone, whole.steps());
    check_lost(add_unevenly(cluster, batches, sums), gone);
}

// ---- the sharded optimizer

std::vector<Tensor> new_parameters() {
    std::vector<Tensor> parameters;
    for (const int64_t n : {12, 1, 7, 0, 40})
        parameters.push_back(Tensor::full({n}, 1.0).set_requires_grad());
    return parameters;
}

std::unique_ptr<optim::Optimizer> new_sgd(std::vector<Tensor> parameters) {
    return std::make_unique<optim::SGD>(std::move(parameters),
                                        optim::SGDOptions{.lr = 0.5, .momentum = 0.5});
}

// Takes steps with equal gradients on all ranks; returns all elements of `parameters`.
std::vector<float> numbers_after_steps(optim::Optimizer& optimizer,
                                       std::vector<Tensor> parameters) {
    constexpr int kSteps = 4;
    for (int step = 1; step <= kSteps; ++step) {
        for (Tensor& parameter : parameters)
            parameter.set_grad(Tensor::full(parameter.shape(), step));
        optimizer.step();
    }
    std::vector<float> numbers;
    for (const Tensor& parameter : parameters)
        for (const float number : parameter.to_vector<float>()) numbers.push_back(number);
    return numbers;
}

Ends step_sharded(ProcessCluster& cluster, std::vector<std::vector<float>>& numbers) {
    numbers.assign(static_cast<size_t>(cluster.process_count()), {});
    return run_in_group(cluster, [&](const std::shared_ptr<dist::ProcessGroup>& group) {
        const std::vector<Tensor> parameters = new_parameters();
        parallel::ZeroRedundancyOptimizer optimizer(parameters, new_sgd, group);
        numbers[static_cast<size_t>(group->rank())] =
            numbers_after_steps(optimizer, parameters);
    });
}

TEST_CASE(
    "on simulated ranks the sharded optimizer gives the unsharded optimizer's "
    "parameters") {
    const std::vector<Tensor> parameters = new_parameters();
    const auto plain = new_sgd(parameters);
    const std::vector<float> expected = numbers_after_steps(*plain, parameters);
    for (const int world_size : {1, 2, 3, 4, 7}) {
        ProcessCluster cluster(world_size, dist::parse_links("1Gbit,100us"), 3);
        std::vector<std::vector<float>> numbers;
        for (const ProcessEnd& end : step_sharded(cluster, numbers))
            CHECK(end.how == ProcessEnd::How::kReturned);
        for (const auto& of_rank : numbers) CHECK(of_rank == expected);
    }
}

TEST_CASE("all other ranks name a simulated rank that dies while shards are exchanged") {
    std::vector<std::vector<float>> numbers;
    ProcessCluster whole(3, dist::parse_links("10Gbit,20us"), 1);
    step_sharded(whole, numbers);
    const int gone = GENERATE(0, 2);
    ProcessCluster cluster(3, dist::parse_links("10Gbit,20us"), 1);
    kill_halfway(cluster, gone, whole.steps());
    check_lost(step_sharded(cluster, numbers), gone);
}

}  // namespace
}  // namespace mini
