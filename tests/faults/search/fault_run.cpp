#include "tests/faults/search/fault_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::test {
namespace {

using dist::ProcessEnd;
using dist::seconds_of;
using dist::VirtualTime;
using std::chrono::milliseconds;

constexpr int kMasterPort = dist::SimulatedSystem::kFirstPort;

// Returns a small integer, so that sums are exact in any order. The integer depends on
// the call: a message that is delivered to another call makes a sum wrong by at least
// kCallStep.
float element(int rank, size_t call, size_t i) {
    constexpr size_t kCallStep = 1024;
    return static_cast<float>((static_cast<size_t>(rank) + i) % 11 + kCallStep * call);
}

// Returns whether a tensor holds the sum over all ranks.
bool is_sum(const Tensor& data, size_t call, int world_size) {
    const auto values = data.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
        float sum = 0;
        for (int rank = 0; rank < world_size; ++rank) sum += element(rank, call, i);
        if (!(values[i] == sum)) return false;
    }
    return true;
}

dist::Call call_of(const FaultPlan& plan, int rank, size_t call) {
    // The victim of a mismatch calls all_reduce with one more element.
    const bool differs =
        plan.fault == Fault::kMismatch && rank == plan.victim && call == plan.step;
    std::vector<float> values;
    for (size_t i = 0; i < plan.calls[call].count + differs; ++i)
        values.push_back(element(rank, call, i));
    return {.operation = dist::Operation::kAllReduce,
            .outputs = {Tensor::from(values)},
            .algorithm = plan.calls[call].algorithm};
}

// Sets `wrong_sum` to a message if a call has returned a wrong sum.
void check_sum(const FaultPlan& plan, int rank, size_t call, const Tensor& data,
               std::string& wrong_sum) {
    if (data.numel() == static_cast<int64_t>(plan.calls[call].count) &&
        !is_sum(data, call, plan.world_size))
        wrong_sum = fmt::format("rank {} has a wrong sum in call {}", rank, call);
}

// Sends numbers to all other ranks for three timeouts, and joins no call.
void flood(const FaultPlan& plan, dist::GroupTransport& transport) {
    constexpr std::chrono::microseconds kPause(40);
    float number = 0;
    const dist::Deadline end = dist::deadline_after(3 * plan.timeout);
    while (!dist::has_passed(end)) {
        for (int other = 0; other < plan.world_size; ++other) {
            if (other == plan.victim) continue;
            dist::PointMessage message;
            message.peer = other;
            message.data = std::as_writable_bytes(std::span(&number, 1));
            message.deadline = end;
            message.timeout = plan.timeout;
            transport.post(message);
            while (!message.done) transport.progress();
        }
        dist::sleep_for(kPause);
    }
}

// Runs all calls on one rank, over a transport.
void run_calls(const FaultPlan& plan, dist::GroupTransport& transport,
               std::string& wrong_sum) {
    const std::vector<int> hosts = hosts_of(plan.links, plan.world_size);
    const int rank = transport.rank();
    if (plan.fault == Fault::kFlood && rank == plan.victim) return flood(plan, transport);
    for (size_t call = 0; call < plan.calls.size(); ++call) {
        const dist::Call all_reduce = call_of(plan, rank, call);
        dist::Collective collective = collective_of(all_reduce, rank, plan.world_size);
        collective.sequence = call;
        transport.begin(collective, plan.timeout);
        run_over(transport, all_reduce, hosts);
        check_sum(plan, rank, call, all_reduce.outputs[0], wrong_sum);
    }
}

// Runs all calls on one rank in a process group, from its rendezvous to its end.
void run_group(const FaultPlan& plan, dist::ProcessCluster& cluster, int rank,
               std::string& wrong_sum) {
    const auto group = dist::make_ring_group(
        {{cluster.system().address_of(0), kMasterPort}, rank, plan.world_size},
        dist::Medium::kTcp, plan.timeout);
    std::vector<Tensor> data;
    std::vector<dist::WorkHandle> works;
    for (size_t call = 0; call < plan.calls.size(); ++call) {
        const dist::Call all_reduce = call_of(plan, rank, call);
        data.push_back(all_reduce.outputs[0]);
        works.push_back(group->start(all_reduce));
        if (!plan.is_async) works.back()->wait();
    }
    for (size_t call = 0; call < works.size(); ++call) {
        works[call]->wait();
        check_sum(plan, rank, call, data[call], wrong_sum);
    }
    group->shutdown();
}

// Connects to every port on which a rank may listen. Sends an HTTP request to half of the
// ports.
void scan_ports(const FaultPlan& plan, dist::ProcessCluster& cluster) {
    const auto soon = [] { return dist::deadline_after(milliseconds(5)); };
    const std::string greeting = "GET / HTTP/1.1\r\n\r\n";
    for (int port = kMasterPort; port < kMasterPort + dist::SimulatedSystem::kPortCount;
         ++port) {
        try {
            const dist::Socket socket = dist::connect_to(
                {cluster.system().address_of(port % plan.world_size), port}, soon(),
                dist::Refusal::kNoMore);
            if (port % 2 == 0)
                dist::send_all(socket, std::as_bytes(std::span(greeting)), soon());
            dist::sleep_for(milliseconds(1));
        } catch (const Error&) {  // no rank listens on this port
        }
    }
}

// Runs one process of a whole job: a rank, or the additional process after the ranks.
void run_process(const FaultPlan& plan, dist::ProcessCluster& cluster, int process,
                 std::string& wrong_sum) {
    const bool is_further = process == plan.world_size;
    if (is_further && plan.fault == Fault::kStranger) return scan_ports(plan, cluster);
    if (plan.fault == Fault::kNeverComes && process == plan.victim) return;
    run_group(plan, cluster, is_further ? plan.victim : process, wrong_sum);
}

// Separates the ranks 0 to victim from the other ranks, or connects them again.
void set_apart(const FaultPlan& plan, dist::ProcessCluster& cluster, bool apart) {
    for (int a = 0; a <= plan.victim; ++a) {
        for (int b = plan.victim + 1; b < plan.world_size; ++b) {
            apart ? cluster.hold(a, b) : cluster.release(a, b);
            apart ? cluster.hold(b, a) : cluster.release(b, a);
        }
    }
}

void make_it_happen(const FaultPlan& plan, dist::ProcessCluster& cluster) {
    constexpr VirtualTime kForGood = std::chrono::hours(1);
    switch (plan.fault) {
        case Fault::kNone:
        case Fault::kNeverComes:
        case Fault::kTwoOfOne:
        case Fault::kStranger:
        case Fault::kFlood:
        case Fault::kMismatch: break;
        case Fault::kSlow: cluster.slow_down(plan.victim, plan.duration); break;
        case Fault::kPause: cluster.pause(plan.victim, plan.duration); break;
        case Fault::kStop: cluster.pause(plan.victim, kForGood); break;
        case Fault::kKill: cluster.kill(plan.victim, plan.loss); break;
        case Fault::kHold: cluster.hold(plan.victim, plan.other); break;
        case Fault::kCut: cluster.cut(plan.victim, plan.other); break;
        case Fault::kNoMemory: cluster.fail_allocation(plan.victim); break;
        case Fault::kPartition:
            set_apart(plan, cluster, true);
            if (plan.duration.count() > 0)
                cluster.at(cluster.now() + plan.duration,
                           [&] { set_apart(plan, cluster, false); });
    }
}

// Returns whether a fault exists from the start of the job and not from one of its steps.
bool is_from_start(Fault fault) {
    return fault == Fault::kFlood || fault == Fault::kMismatch ||
           fault == Fault::kNeverComes || fault == Fault::kTwoOfOne ||
           fault == Fault::kStranger;
}

std::string end_text(const ProcessEnd& end) {
    const double seconds = seconds_of(end.time);
    switch (end.how) {
        case ProcessEnd::How::kReturned:
            return fmt::format("returned at {:.6f} s", seconds);
        case ProcessEnd::How::kKilled:
            return fmt::format("was killed at {:.6f} s", seconds);
        case ProcessEnd::How::kStuck: return "waits forever";
        case ProcessEnd::How::kThrew: break;
    }
    return fmt::format("threw at {:.6f} s: {}", seconds, end.failure->message);
}

}  // namespace

FaultResult play(const FaultPlan& plan) {
    std::vector<int> hosts = hosts_of(plan.links, plan.world_size);
    if (plan.fault == Fault::kTwoOfOne)  // on the victim's host or its own
        hosts.push_back(plan.step % 2 == 0 ? hosts[static_cast<size_t>(plan.victim)]
                                           : plan.world_size);
    if (plan.fault == Fault::kStranger) hosts.push_back(plan.world_size);
    dist::ProcessCluster cluster(hosts, plan.links, plan.seed);
    FaultResult result;
    result.happened = is_from_start(plan.fault);
    cluster.set_on_step([&](size_t step) {
        if (step != plan.step) return;
        make_it_happen(plan, cluster);
        result.happened = true;
        result.when = cluster.now();
    });
    std::string wrong_sum;
    if (plan.is_whole)
        result.ends = cluster.run(
            [&](int process) { run_process(plan, cluster, process, wrong_sum); });
    else
        result.ends = run_mesh(cluster, [&](dist::GroupTransport& transport) {
            run_calls(plan, transport, wrong_sum);
        });
    check(plan, result);
    if (!wrong_sum.empty()) result.error = wrong_sum;
    const size_t open = cluster.system().open_count();
    if (result.error.empty() && open > 0)
        result.error = fmt::format("{} sockets are still open", open);
    return result;
}

std::string story_of(const FaultPlan& plan, const FaultResult& result) {
    std::string story = describe(plan) + "\n";
    for (size_t rank = 0; rank < result.ends.size(); ++rank)
        story += fmt::format("  rank {} {}\n", rank, end_text(result.ends[rank]));
    if (!result.error.empty()) story += "  wrong: " + result.error + "\n";
    return story;
}

}  // namespace mini::test
