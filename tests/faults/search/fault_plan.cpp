#include "tests/faults/search/fault_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace mini::test {
namespace {

using dist::Algorithm;
using dist::seconds_of;
using std::chrono::milliseconds;

constexpr int kMaxRanks = 9;
constexpr size_t kMaxSteps = 1000;  // most jobs end in fewer steps

// Draws random choices. Does not use std::uniform_int_distribution, because its numbers
// differ between standard libraries.
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

// Turns the job into a flood. A flood takes many steps, so it gets few ranks and a short
// timeout.
void make_flood(FaultPlan& plan) {
    constexpr int kMostRanks = 4;
    plan.fault = Fault::kFlood;
    plan.world_size = std::min(plan.world_size, kMostRanks);
    plan.victim %= plan.world_size;
    plan.timeout = milliseconds(8);
    plan.step = 0;
}

std::string describe_fault(const FaultPlan& plan) {
    constexpr const char* kLosses[] = {"", ", losing half a message,", ", losing bytes,"};
    std::string text = fault_name(plan.fault);
    if (plan.fault == Fault::kNone || plan.fault == Fault::kStranger) return text;
    text += fmt::format(" rank {}", plan.victim);
    if (plan.fault == Fault::kNeverComes || plan.fault == Fault::kTwoOfOne ||
        plan.fault == Fault::kFlood)
        return text;
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
        case Fault::kFlood: return "flood";
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

    // Choose early steps more often than late steps, because most jobs end early.
    plan.step =
        choices.below(1 + choices.below(plan.is_whole ? 4 * kMaxSteps : kMaxSteps));
    if (plan.fault == Fault::kMismatch) plan.step = choices.below(plan.calls.size());
    plan.loss = choices.one_of(kLosses);
    plan.duration = milliseconds(plan.fault == Fault::kSlow ? 1 : choices.below(500));
    if (plan.fault == Fault::kPartition && choices.below(2) == 1) plan.duration = {};
    if (plan.fault == Fault::kNone && !plan.is_whole && choices.below(4) == 0)
        make_flood(plan);
    return plan;
}

std::string describe(const FaultPlan& plan) {
    std::string text = fmt::format("seed {}: {} ranks{}", plan.seed, plan.world_size,
                                   plan.is_whole ? " meet" : "");
    for (const FaultPlan::Call& call : plan.calls)
        text += fmt::format(", {} of {}", algorithm_name(call.algorithm), call.count);
    if (plan.is_whole && plan.is_async) text += ", all at once";
    return text +
           fmt::format(", timeout {} ms; {}", plan.timeout.count(), describe_fault(plan));
}

}  // namespace mini::test
