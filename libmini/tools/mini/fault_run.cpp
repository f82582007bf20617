#include "libmini/tools/mini/fault_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/simulation/mesh_cluster.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::tools {
namespace {

using dist::Algorithm;
using dist::Failure;
using dist::ProcessEnd;
using dist::seconds_of;
using dist::VirtualTime;
using std::chrono::milliseconds;

constexpr int kMaxRanks = 9;
constexpr size_t kMaxSteps = 1000;  // most jobs have ended by then
constexpr int kMasterPort = dist::SimulatedSystem::kFirstPort;
constexpr int kPorts = 64;

// A source of choices. Not std::uniform_int_distribution, whose numbers a library may choose.
class Choices {
  public:
    explicit Choices(uint64_t seed) : random_(seed) {}

    size_t below(size_t bound) { return random_() % bound; }
    template <typename T, size_t N>
    const T& one_of(const T (&values)[N]) {
        return values[below(N)];
    }

  private:
    std::mt19937_64 random_;
};

size_t count_of(Choices& choices, int world_size) {
    const auto P = static_cast<size_t>(world_size);
    const size_t counts[] = {0, 1, P - 1, P, 5, 64, 1000, 30'000};
    return choices.one_of(counts);
}

// Small integers: their sums are exact in any order.
float element(int rank, size_t call, size_t i) {
    return static_cast<float>((static_cast<size_t>(rank) + 3 * call + i) % 11);
}

// Whether a tensor holds the sum over all ranks.
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
    // The victim of a mismatch calls for one element more.
    const bool differs =
        plan.fault == Fault::kMismatch && rank == plan.victim && call == plan.step;
    std::vector<float> values;
    for (size_t i = 0; i < plan.calls[call].count + differs; ++i)
        values.push_back(element(rank, call, i));
    return {.operation = dist::Operation::kAllReduce,
            .outputs = {Tensor::from(values)},
            .algorithm = plan.calls[call].algorithm};
}

// Notes a wrong sum of a call that has returned.
void check_sum(const FaultPlan& plan, int rank, size_t call, const Tensor& data,
               std::string& wrong_sum) {
    if (data.numel() == static_cast<int64_t>(plan.calls[call].count) &&
        !is_sum(data, call, plan.world_size))
        wrong_sum = fmt::format("rank {} has a wrong sum in call {}", rank, call);
}

// Runs all calls on one rank, over a transport.
void run_calls(const FaultPlan& plan, dist::GroupTransport& transport,
               std::string& wrong_sum) {
    const std::vector<int> hosts = hosts_of(plan.links, plan.world_size);
    const int rank = transport.rank();
    for (size_t call = 0; call < plan.calls.size(); ++call) {
        const dist::Call all_reduce = call_of(plan, rank, call);
        dist::Collective collective = collective_of(all_reduce, rank, plan.world_size);
        collective.sequence = call;
        transport.begin(collective, plan.timeout);
        run_over(transport, all_reduce, hosts);
        check_sum(plan, rank, call, all_reduce.outputs[0], wrong_sum);
    }
}

// The same in a process group, from its rendezvous to its end.
void run_group(const FaultPlan& plan, dist::ProcessCluster& cluster, int rank,
               std::string& wrong_sum) {
    const auto group = dist::make_ring_group(
        {{cluster.system().address_of(0), kMasterPort}, rank, plan.world_size},
        dist::Medium::kTcp, plan.timeout);
    std::vector<Tensor> data;
    std::vector<dist::WorkHandle> works;
    for (size_t call = 0; call < plan.calls.size(); ++call) {
        dist::Call all_reduce = call_of(plan, rank, call);
        all_reduce.blocking = !plan.is_async;
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

// Connects to every port that the ranks may listen at, and says what no rank says.
void knock(const FaultPlan& plan, dist::ProcessCluster& cluster) {
    const auto soon = [] { return dist::deadline_after(milliseconds(5)); };
    const std::string greeting = "GET / HTTP/1.1\r\n\r\n";
    for (int port = kMasterPort; port < kMasterPort + kPorts; ++port) {
        try {
            const dist::Socket socket = dist::connect_to(
                {cluster.system().address_of(port % plan.world_size), port}, soon(),
                dist::Refusal::kNoMore);
            if (port % 2 == 0)
                dist::send_all(socket, std::as_bytes(std::span(greeting)), soon());
            dist::sleep_for(milliseconds(1));
        } catch (const Error&) {  // nothing listens there
        }
    }
}

// What a process of a whole job does: ranks, then perhaps one more process.
void run_process(const FaultPlan& plan, dist::ProcessCluster& cluster, int process,
                 std::string& wrong_sum) {
    const bool is_further = process == plan.world_size;
    if (is_further && plan.fault == Fault::kStranger) return knock(plan, cluster);
    if (plan.fault == Fault::kNeverComes && process == plan.victim) return;
    run_group(plan, cluster, is_further ? plan.victim : process, wrong_sum);
}

// Keeps the first ranks, up to the victim, and the others apart.
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

// What survivors may throw because of a fault, and which ranks they may name.
struct Allowed {
    std::optional<Failure::Kind> kind;
    std::set<int> ranks;
};

Allowed allowed_by(const FaultPlan& plan) {
    switch (plan.fault) {
        case Fault::kNone:
        case Fault::kSlow:
        case Fault::kPause:
        case Fault::kStranger: return {};
        case Fault::kKill:
        case Fault::kNoMemory: return {Failure::Kind::kPeerLost, {plan.victim}};
        case Fault::kStop:
        case Fault::kNeverComes: return {Failure::Kind::kTimeout, {plan.victim}};
        case Fault::kHold: return {Failure::Kind::kTimeout, {plan.victim, plan.other}};
        case Fault::kCut: return {Failure::Kind::kPeerLost, {plan.victim, plan.other}};
        case Fault::kPartition: return {Failure::Kind::kTimeout, {}};
        case Fault::kTwoOfOne: return {Failure::Kind::kOther, {}};
        case Fault::kMismatch: break;
    }
    return {Failure::Kind::kMismatch, {}};
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

// The number behind the last `words` in a text; -1 for none.
int last_number_behind(const std::string& text, const std::string& words) {
    const size_t at = text.rfind(words);
    if (at == std::string::npos) return -1;
    return std::atoi(text.c_str() + at + words.size());
}

// The rank that a failure is about. A Timeout names it in its text alone.
int named_rank(const Failure& failure) {
    if (failure.rank >= 0) return failure.rank;
    const size_t verdict = failure.message.rfind(" is silent: is its process");
    return last_number_behind(failure.message.substr(0, verdict),
                              verdict == std::string::npos ? " for rank " : "; rank ");
}

// Whether a failure says that ranks wait in a circle, which names none.
bool names_circle(const Failure& failure) {
    return failure.message.find("these ranks wait for each other") != std::string::npos;
}

// Whether a text names one of these ranks: "rank 2", and not "rank 20".
bool mentions(const std::string& text, const std::set<int>& ranks) {
    return std::ranges::any_of(ranks, [&](int rank) {
        const std::string words = fmt::format("rank {}", rank);
        for (size_t at = text.find(words); at != std::string::npos;
             at = text.find(words, at + 1))
            if (!std::isdigit(static_cast<unsigned char>(text[at + words.size()])))
                return true;
        return false;
    });
}

// What is wrong with the failure of a rank of a whole job, which may be one of the rendezvous.
std::string fault_of_group(const FaultPlan& plan, const Allowed& allowed,
                           const Failure& failure) {
    if (plan.fault == Fault::kTwoOfOne) {
        const std::string words = fmt::format("two processes have RANK {}", plan.victim);
        return failure.message.find(words) == std::string::npos
                   ? "it does not say that two processes have one rank"
                   : "";
    }
    if (plan.fault == Fault::kMismatch)
        return failure.kind == *allowed.kind ? "" : "it throws another kind of error";
    const bool is_circle = names_circle(failure) && allowed.ranks.size() != 1;
    if (allowed.ranks.empty() || is_circle) return "";
    return mentions(failure.message, allowed.ranks)
               ? ""
               : "it does not name a rank that has failed";
}

std::string fault_of_transport(const FaultPlan& plan, const Allowed& allowed,
                               const Failure& failure) {
    // A rank at an end of a link that hangs may have returned before.
    const bool is_lost_end = plan.fault == Fault::kHold &&
                             failure.kind == Failure::Kind::kPeerLost &&
                             allowed.ranks.contains(failure.rank);
    if (failure.kind != *allowed.kind && !is_lost_end)
        return "it throws another kind of error";
    const bool is_circle = plan.fault == Fault::kHold && names_circle(failure);
    if (!is_circle && !allowed.ranks.empty() &&
        !allowed.ranks.contains(named_rank(failure)))
        return "it names a rank that has not failed";
    return "";
}

// Whether a failure that names another rank is one of the exceptions of fault_run.hpp.
bool is_exception(const FaultPlan& plan, const Failure& failure,
                  const std::vector<ProcessEnd>& ends) {
    const auto says = [&](const char* words) {
        return failure.message.find(words) != std::string::npos;
    };
    if (plan.is_whole && (says("did it start") || says("could not connect to")))
        return true;
    if (plan.fault == Fault::kNoMemory && plan.victim == 0) return true;
    const int named = named_rank(failure);
    const bool breaks = plan.fault == Fault::kKill || plan.fault == Fault::kCut;
    return breaks && named >= 0 &&
           ends[static_cast<size_t>(named)].how == ProcessEnd::How::kReturned;
}

// Whether one of two processes with a rank came when the job was over, and found no store.
bool is_too_late(const FaultPlan& plan, int process,
                 const std::vector<ProcessEnd>& ends) {
    const auto returned =
        std::ranges::count(ends, ProcessEnd::How::kReturned, &ProcessEnd::how);
    return (process == plan.victim || process == plan.world_size) &&
           returned == std::ssize(ends) - 1;
}

// Whether the victim may end in any way.
bool ends_badly(Fault fault) {
    return fault == Fault::kStop || fault == Fault::kKill || fault == Fault::kNoMemory;
}

// When a rank must have thrown, in seconds.
double last_moment(const FaultPlan& plan) {
    const double timeout = std::chrono::duration<double>(plan.timeout).count();
    const auto calls = static_cast<double>(plan.calls.size());
    // A rendezvous, with what its failure takes (part_after_failure and others), and leaving.
    const double group = plan.is_whole ? 2 * timeout + 12 : 0;
    return calls * timeout * 1.1 + 1 + group + seconds_of(plan.duration);
}

// What is wrong with the end of one rank; "" for nothing.
std::string fault_of(const FaultPlan& plan, int rank, const std::vector<ProcessEnd>& ends,
                     int& exceptions) {
    // A rank that is stopped for good finds the others gone, and one is killed on purpose.
    const ProcessEnd& end = ends[static_cast<size_t>(rank)];
    if (end.how == ProcessEnd::How::kStuck) return "it waits forever";
    if (rank == plan.victim && ends_badly(plan.fault)) return "";
    if (end.how != ProcessEnd::How::kThrew) return "";
    if (plan.fault == Fault::kTwoOfOne && is_too_late(plan, rank, ends)) return "";

    const Allowed allowed = allowed_by(plan);
    if (!allowed.kind) return "it throws, though no rank has failed";
    const std::string fault = plan.is_whole
                                  ? fault_of_group(plan, allowed, *end.failure)
                                  : fault_of_transport(plan, allowed, *end.failure);
    if (!fault.empty() && !is_exception(plan, *end.failure, ends)) return fault;
    exceptions += !fault.empty();
    if (!(seconds_of(end.time) <= last_moment(plan)))
        return "it throws after its deadline";
    return "";
}

}  // namespace

const char* fault_name(Fault fault) {
    switch (fault) {
        case Fault::kNone: return "none";
        case Fault::kSlow: return "slow";
        case Fault::kPause: return "pause";
        case Fault::kKill: return "kill";
        case Fault::kStop: return "stop";
        case Fault::kHold: return "hold";
        case Fault::kMismatch: return "mismatch";
        case Fault::kCut: return "cut";
        case Fault::kPartition: return "partition";
        case Fault::kNoMemory: return "no memory";
        case Fault::kNeverComes: return "never comes";
        case Fault::kTwoOfOne: return "two of one";
        case Fault::kStranger: return "stranger";
    }
    return "unknown fault";
}

FaultPlan plan_of(uint64_t seed) {
    constexpr const char* kLinks[] = {"10Gbit,20us", "1Gbit,100us", "100Gbit,1us",
                                      "100Mbit,1ms",
                                      "1Gbit,100us; hosts of 3: 100Gbit,2us"};
    constexpr Algorithm kAlgorithms[] = {Algorithm::kNaive,
                                         Algorithm::kTree,
                                         Algorithm::kRing,
                                         Algorithm::kRecursiveDoubling,
                                         Algorithm::kHalvingDoubling,
                                         Algorithm::kHierarchical};
    constexpr Fault kFaults[] = {Fault::kNone, Fault::kSlow, Fault::kPause,
                                 Fault::kKill, Fault::kKill, Fault::kKill,
                                 Fault::kStop, Fault::kStop, Fault::kHold,
                                 Fault::kHold, Fault::kCut,  Fault::kMismatch};
    constexpr Fault kWholeFaults[] = {Fault::kPartition, Fault::kNoMemory,
                                      Fault::kNeverComes, Fault::kTwoOfOne,
                                      Fault::kStranger};
    constexpr dist::Loss kLosses[] = {dist::Loss::kNone, dist::Loss::kHalf,
                                      dist::Loss::kAll};
    Choices choices(seed);
    FaultPlan plan;
    plan.seed = seed;
    plan.world_size = 2 + static_cast<int>(choices.below(kMaxRanks - 1));
    plan.links = dist::parse_links(choices.one_of(kLinks));
    plan.is_whole = choices.below(2) == 1;
    plan.is_async = choices.below(2) == 1;
    plan.calls.resize(1 + choices.below(4));
    for (FaultPlan::Call& call : plan.calls)
        call = {choices.one_of(kAlgorithms), count_of(choices, plan.world_size)};
    plan.timeout = milliseconds(2000);
    plan.fault = choices.one_of(kFaults);
    if (plan.is_whole && choices.below(3) == 0) plan.fault = choices.one_of(kWholeFaults);
    plan.victim = static_cast<int>(choices.below(static_cast<size_t>(plan.world_size)));
    plan.other =
        static_cast<int>(choices.below(static_cast<size_t>(plan.world_size - 1)));
    plan.other += plan.other >= plan.victim;

    // Early steps more often than late ones, after which most jobs have ended.
    plan.step =
        choices.below(1 + choices.below(plan.is_whole ? 4 * kMaxSteps : kMaxSteps));
    if (plan.fault == Fault::kMismatch) plan.step = choices.below(plan.calls.size());
    plan.loss = choices.one_of(kLosses);
    plan.duration = milliseconds(plan.fault == Fault::kSlow ? 1 : choices.below(500));
    if (plan.fault == Fault::kPartition && choices.below(2) == 1) plan.duration = {};
    return plan;
}

namespace {

std::string describe_fault(const FaultPlan& plan) {
    constexpr const char* kLosses[] = {"", ", losing half a message,", ", losing bytes,"};
    std::string text = fault_name(plan.fault);
    if (plan.fault == Fault::kNone || plan.fault == Fault::kStranger) return text;
    text += fmt::format(" rank {}", plan.victim);
    if (plan.fault == Fault::kNeverComes || plan.fault == Fault::kTwoOfOne) return text;
    if (plan.fault == Fault::kHold || plan.fault == Fault::kCut)
        text += fmt::format(" to rank {}", plan.other);
    if (plan.fault == Fault::kMismatch)
        return text + fmt::format(" in call {}", plan.step);
    const bool lasts = plan.fault == Fault::kPause || plan.fault == Fault::kSlow ||
                       plan.fault == Fault::kPartition;
    if (lasts && plan.duration.count() > 0)
        text += fmt::format(" for {:.3f} s", seconds_of(plan.duration));
    if (plan.fault == Fault::kKill) text += kLosses[static_cast<size_t>(plan.loss)];
    return text + fmt::format(" at step {}", plan.step);
}

}  // namespace

std::string describe(const FaultPlan& plan) {
    std::string text = fmt::format("seed {}: {} ranks{}", plan.seed, plan.world_size,
                                   plan.is_whole ? " meet" : "");
    for (const FaultPlan::Call& call : plan.calls)
        text += fmt::format(", {} of {}", algorithm_name(call.algorithm), call.count);
    if (plan.is_whole && plan.is_async) text += ", all at once";
    return text +
           fmt::format(", timeout {} ms; {}", plan.timeout.count(), describe_fault(plan));
}

void check(const FaultPlan& plan, FaultResult& result) {
    std::set<int> named;
    for (size_t process = 0; process < result.ends.size(); ++process) {
        const ProcessEnd& end = result.ends[process];
        const int before = result.exceptions;
        const int rank = static_cast<int>(process);
        const std::string fault = fault_of(plan, rank, result.ends, result.exceptions);
        if (!fault.empty()) {
            result.error = fmt::format("rank {}: {}", rank, fault);
            return;
        }
        if (end.how == ProcessEnd::How::kThrew && rank != plan.victim &&
            result.exceptions == before)
            named.insert(named_rank(*end.failure));
    }
    const bool is_about_one =
        !plan.is_whole && (plan.fault == Fault::kKill || plan.fault == Fault::kStop);
    if (is_about_one && named.size() > 1) result.error = "ranks name different ranks";
}

FaultResult play(const FaultPlan& plan) {
    std::vector<int> hosts = hosts_of(plan.links, plan.world_size);
    if (plan.fault == Fault::kTwoOfOne)  // on the same host, or on one of its own
        hosts.push_back(plan.step % 2 == 0 ? hosts[static_cast<size_t>(plan.victim)]
                                           : plan.world_size);
    if (plan.fault == Fault::kStranger) hosts.push_back(plan.world_size);
    dist::ProcessCluster cluster(hosts, plan.links, plan.seed);
    FaultResult result;
    result.happened = plan.fault == Fault::kMismatch ||
                      plan.fault == Fault::kNeverComes ||
                      plan.fault == Fault::kTwoOfOne || plan.fault == Fault::kStranger;
    cluster.set_on_step([&](size_t step) {
        if (step != plan.step) return;
        make_it_happen(plan, cluster);
        result.happened = true;
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

namespace {

// Jobs that are a little shorter than this one.
std::vector<FaultPlan> shorter(const FaultPlan& plan) {
    std::vector<FaultPlan> all;
    const auto add = [&](const auto& change) {
        all.push_back(plan);
        change(all.back());
    };
    const int last = plan.world_size - 1;
    if (plan.world_size > 2 && plan.victim != last && plan.other != last)
        add([](FaultPlan& p) { --p.world_size; });
    for (size_t call = 0; call < plan.calls.size(); ++call) {
        const auto at = static_cast<ptrdiff_t>(call);
        if (plan.calls.size() > 1 && plan.fault != Fault::kMismatch)
            add([&](FaultPlan& p) { p.calls.erase(p.calls.begin() + at); });
        if (plan.calls[call].count > 1)
            add([&](FaultPlan& p) { p.calls[call].count = 1; });
        if (plan.calls[call].algorithm != Algorithm::kRing)
            add([&](FaultPlan& p) { p.calls[call].algorithm = Algorithm::kRing; });
    }
    if (plan.victim > 0 && plan.victim - 1 != plan.other)
        add([](FaultPlan& p) { --p.victim; });
    if (plan.is_whole && plan.fault < Fault::kPartition)
        add([](FaultPlan& p) { p.is_whole = false; });
    if (plan.is_async) add([](FaultPlan& p) { p.is_async = false; });
    if (plan.loss != dist::Loss::kNone)
        add([](FaultPlan& p) { p.loss = dist::Loss::kNone; });
    if (plan.fault != Fault::kMismatch)
        for (const size_t less : {plan.step / 2, size_t{10}, size_t{1}})
            if (less > 0 && less <= plan.step) add([&](FaultPlan& p) { p.step -= less; });
    return all;
}

}  // namespace

FaultPlan shrink(const FaultPlan& plan) {
    FaultPlan shortest = plan;
    for (bool is_shorter = true; is_shorter;) {
        is_shorter = false;
        for (const FaultPlan& candidate : shorter(shortest)) {
            if (play(candidate).error.empty()) continue;
            shortest = candidate;
            is_shorter = true;
            break;
        }
    }
    return shortest;
}

std::string story_of(const FaultPlan& plan, const FaultResult& result) {
    std::string story = describe(plan) + "\n";
    for (size_t rank = 0; rank < result.ends.size(); ++rank)
        story += fmt::format("  rank {} {}\n", rank, end_text(result.ends[rank]));
    if (!result.error.empty()) story += "  wrong: " + result.error + "\n";
    return story;
}

}  // namespace mini::tools
