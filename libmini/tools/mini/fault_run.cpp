#include "libmini/tools/mini/fault_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::tools {
namespace {

using dist::Algorithm;
using dist::Failure;
using dist::RankEnd;
using dist::seconds_of;
using dist::VirtualTime;
using std::chrono::milliseconds;

constexpr int kMaxRanks = 9;
constexpr size_t kMaxSteps = 1000;  // most jobs have ended by then

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

// Runs all calls on one rank. The victim of a mismatch calls for one element more.
void run_calls(const FaultPlan& plan, dist::GroupTransport& transport,
               std::string& wrong_sum) {
    const std::vector<int> one_host(static_cast<size_t>(plan.world_size), 0);
    for (size_t call = 0; call < plan.calls.size(); ++call) {
        const int rank = transport.rank();
        const bool differs =
            plan.fault == Fault::kMismatch && rank == plan.victim && call == plan.step;
        std::vector<float> values;
        for (size_t i = 0; i < plan.calls[call].count + differs; ++i)
            values.push_back(element(rank, call, i));
        const dist::Call all_reduce{.operation = dist::Operation::kAllReduce,
                                    .outputs = {Tensor::from(values)},
                                    .algorithm = plan.calls[call].algorithm};
        dist::Collective collective = collective_of(all_reduce, rank, plan.world_size);
        collective.sequence = call;
        transport.begin(collective, plan.timeout);
        run_over(transport, all_reduce, one_host);
        if (!differs && !is_sum(all_reduce.outputs[0], call, plan.world_size))
            wrong_sum = fmt::format("rank {} has a wrong sum in call {}", rank, call);
    }
}

void make_it_happen(const FaultPlan& plan, dist::MeshCluster& cluster) {
    constexpr VirtualTime kForGood = std::chrono::hours(1);
    switch (plan.fault) {
        case Fault::kNone:
        case Fault::kMismatch: break;
        case Fault::kSlow: cluster.slow_down(plan.victim, plan.duration); break;
        case Fault::kPause: cluster.pause(plan.victim, plan.duration); break;
        case Fault::kStop: cluster.pause(plan.victim, kForGood); break;
        case Fault::kKill: cluster.kill(plan.victim, plan.loses_bytes); break;
        case Fault::kHold: cluster.hold(plan.victim, plan.other); break;
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
        case Fault::kPause: return {};
        case Fault::kKill: return {Failure::Kind::kPeerLost, {plan.victim}};
        case Fault::kStop: return {Failure::Kind::kTimeout, {plan.victim}};
        case Fault::kHold: return {Failure::Kind::kTimeout, {plan.victim, plan.other}};
        case Fault::kMismatch: break;
    }
    return {Failure::Kind::kMismatch, {}};
}

std::string end_text(const RankEnd& end) {
    const double seconds = seconds_of(end.time);
    switch (end.how) {
        case RankEnd::How::kReturned: return fmt::format("returned at {:.6f} s", seconds);
        case RankEnd::How::kKilled: return fmt::format("was killed at {:.6f} s", seconds);
        case RankEnd::How::kStuck: return "waits forever";
        case RankEnd::How::kThrew: break;
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

// What is wrong with the end of one rank; "" for nothing.
std::string fault_of(const FaultPlan& plan, int rank, const RankEnd& end) {
    // A rank that is stopped for good finds the others gone, and one is killed on purpose.
    const bool is_hurt = rank == plan.victim;
    if (end.how == RankEnd::How::kStuck) return "it waits forever";
    if (is_hurt && (plan.fault == Fault::kStop || plan.fault == Fault::kKill)) return "";
    if (end.how != RankEnd::How::kThrew) return "";

    const Allowed allowed = allowed_by(plan);
    if (!allowed.kind) return "it throws, though no rank has failed";
    // A rank at an end of a link that hangs may have returned before.
    const bool is_lost_end = plan.fault == Fault::kHold &&
                             end.failure->kind == Failure::Kind::kPeerLost &&
                             allowed.ranks.contains(end.failure->rank);
    if (end.failure->kind != *allowed.kind && !is_lost_end)
        return "it throws another kind of error";
    const bool is_circle = plan.fault == Fault::kHold && names_circle(*end.failure);
    if (!is_circle && !allowed.ranks.empty() &&
        !allowed.ranks.contains(named_rank(*end.failure)))
        return "it names a rank that has not failed";
    const auto calls = static_cast<double>(plan.calls.size());
    const double bound =
        calls * std::chrono::duration<double>(plan.timeout).count() * 1.1;
    if (!(seconds_of(end.time) <= bound + 1)) return "it throws after its deadline";
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
    }
    return "unknown fault";
}

FaultPlan plan_of(uint64_t seed) {
    constexpr const char* kLinks[] = {"10Gbit,20us", "1Gbit,100us", "100Gbit,1us",
                                      "100Mbit,1ms"};
    constexpr Algorithm kAlgorithms[] = {Algorithm::kNaive,
                                         Algorithm::kTree,
                                         Algorithm::kRing,
                                         Algorithm::kRecursiveDoubling,
                                         Algorithm::kHalvingDoubling,
                                         Algorithm::kHierarchical};
    constexpr Fault kFaults[] = {Fault::kNone, Fault::kSlow,    Fault::kPause,
                                 Fault::kKill, Fault::kKill,    Fault::kKill,
                                 Fault::kStop, Fault::kStop,    Fault::kHold,
                                 Fault::kHold, Fault::kMismatch};
    Choices choices(seed);
    FaultPlan plan;
    plan.seed = seed;
    plan.world_size = 2 + static_cast<int>(choices.below(kMaxRanks - 1));
    plan.links = dist::parse_links(choices.one_of(kLinks));
    plan.calls.resize(1 + choices.below(4));
    for (FaultPlan::Call& call : plan.calls)
        call = {choices.one_of(kAlgorithms), count_of(choices, plan.world_size)};
    plan.timeout = milliseconds(2000);
    plan.fault = choices.one_of(kFaults);
    plan.victim = static_cast<int>(choices.below(static_cast<size_t>(plan.world_size)));
    plan.other =
        static_cast<int>(choices.below(static_cast<size_t>(plan.world_size - 1)));
    plan.other += plan.other >= plan.victim;

    // Early steps more often than late ones, after which most jobs have ended.
    plan.step = choices.below(1 + choices.below(kMaxSteps));
    if (plan.fault == Fault::kMismatch) plan.step = choices.below(plan.calls.size());
    plan.loses_bytes = choices.below(2) == 1;
    plan.duration = milliseconds(plan.fault == Fault::kSlow ? 1 : choices.below(500));
    return plan;
}

std::string describe(const FaultPlan& plan) {
    std::string text = fmt::format("seed {}: {} ranks", plan.seed, plan.world_size);
    for (const FaultPlan::Call& call : plan.calls)
        text += fmt::format(", {} of {}", algorithm_name(call.algorithm), call.count);
    text +=
        fmt::format(", timeout {} ms; {}", plan.timeout.count(), fault_name(plan.fault));
    if (plan.fault == Fault::kNone) return text;
    text += fmt::format(" rank {}", plan.victim);
    if (plan.fault == Fault::kHold) text += fmt::format(" to rank {}", plan.other);
    if (plan.fault == Fault::kMismatch)
        return text + fmt::format(" in call {}", plan.step);
    if (plan.fault == Fault::kPause || plan.fault == Fault::kSlow)
        text += fmt::format(" for {:.3f} s", seconds_of(plan.duration));
    if (plan.fault == Fault::kKill && plan.loses_bytes) text += ", losing bytes,";
    return text + fmt::format(" at step {}", plan.step);
}

std::string check(const FaultPlan& plan, const std::vector<RankEnd>& ends) {
    std::set<int> named;
    for (int rank = 0; rank < plan.world_size; ++rank) {
        const RankEnd& end = ends[static_cast<size_t>(rank)];
        const std::string fault = fault_of(plan, rank, end);
        if (!fault.empty()) return fmt::format("rank {}: {}", rank, fault);
        if (end.how == RankEnd::How::kThrew && rank != plan.victim)
            named.insert(named_rank(*end.failure));
    }
    const bool is_about_one = plan.fault == Fault::kKill || plan.fault == Fault::kStop;
    if (is_about_one && named.size() > 1) return "ranks name different ranks";
    return "";
}

FaultResult play(const FaultPlan& plan) {
    dist::MeshCluster cluster(plan.world_size, plan.links, plan.seed);
    FaultResult result;
    result.happened = plan.fault == Fault::kMismatch;
    cluster.set_on_step([&](size_t step) {
        if (step != plan.step) return;
        make_it_happen(plan, cluster);
        result.happened = true;
    });
    std::string wrong_sum;
    result.ends = cluster.run(
        [&](dist::GroupTransport& transport) { run_calls(plan, transport, wrong_sum); });
    result.error = wrong_sum.empty() ? check(plan, result.ends) : wrong_sum;
    return result;
}

std::string story_of(const FaultPlan& plan, const FaultResult& result) {
    std::string story = describe(plan) + "\n";
    for (size_t rank = 0; rank < result.ends.size(); ++rank)
        story += fmt::format("  rank {} {}\n", rank, end_text(result.ends[rank]));
    if (!result.error.empty()) story += "  wrong: " + result.error + "\n";
    return story;
}

}  // namespace mini::tools
