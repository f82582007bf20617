#include "tests/faults/scenario.hpp"

#include <algorithm>
#include <cstdint>
#include <random>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"

namespace mini::dist::faults {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kNeverReached = std::chrono::seconds(60);
constexpr milliseconds kReached(2500);       // survivors may wait until this timeout
constexpr milliseconds kSilence(4000);       // for a silent rank
constexpr milliseconds kClose(4000);         // for a rank that is late by half of it
constexpr milliseconds kContradicted(5000);  // for errors that must come earlier
constexpr int kWorldSizes[] = {2, 3, 4, 7};
constexpr int64_t kManyElements = 300'000;  // sent in several hundred pieces

struct Calls {
    Operation operation;
    Algorithm algorithm = Algorithm::kAuto;
};

// Returns every operation, all_reduce once per algorithm that the groups support.
std::vector<Calls> calls_of(const std::string& group_kind) {
    std::vector<Algorithm> algorithms = {Algorithm::kRing, Algorithm::kRecursiveDoubling,
                                         Algorithm::kHalvingDoubling, Algorithm::kTree,
                                         Algorithm::kNaive};
    const bool shares_memory = group_kind == "threads" || group_kind == "ring-shm";
    if (shares_memory && shared_all_reduce().run != nullptr)
        algorithms.push_back(Algorithm::kSharedMemory);
    if (group_kind == "gloo") algorithms = {Algorithm::kAuto};
    std::vector<Calls> all;
    for (const Algorithm each : algorithms) all.push_back({Operation::kAllReduce, each});
    for (const Operation each :
         {Operation::kBroadcast, Operation::kReduce, Operation::kAllGather,
          Operation::kGather, Operation::kScatter, Operation::kReduceScatter,
          Operation::kAllToAll, Operation::kBarrier})
        all.push_back({each});
    return all;
}

milliseconds timeout_of(const Scenario& s) {
    if (s.kind == Kind::kOtherWorld || s.kind == Kind::kTwice) return kContradicted;
    if (s.kind == Kind::kPaused || s.kind == Kind::kSlow) return kClose;
    const bool has_ranks_in_steps =
        s.moment != Moment::kJoining && s.moment < Moment::kShutdown;
    if (has_ranks_in_steps && s.kind != Kind::kStopped) return kNeverReached;
    if (s.kind == Kind::kStopped) return kSilence;
    return kReached;
}

class Table {
  public:
    Table(const std::string& group_kind, bool fast)
        : group_kind_(group_kind), fast_(fast) {}

    std::vector<Scenario> all() && {
        add_deaths();
        add_silences_and_mismatches();
        add_ends_and_beginnings();
        add_large_tensors_and_subgroups();
        return std::move(all_);
    }

  private:
    // Adds deaths of a rank at several moments, in every operation. The victim changes
    // from scenario to scenario, and so does the tensor's size, less often.
    void add_deaths() {
        unsigned seed = 0, call = 0;
        for (const int P : kWorldSizes)
            for (const Calls& c : calls_of(group_kind_)) {
                ++call;
                for (const Moment moment :
                     {Moment::kBefore, Moment::kBetween, Moment::kInside})
                    for (int kind = 0; is_death(static_cast<Kind>(kind)); ++kind) {
                        ++seed;
                        const Scenario s{
                            .kind = static_cast<Kind>(kind),
                            .moment = moment,
                            .operation = c.operation,
                            .algorithm = c.algorithm,
                            .n = (seed + call / 3) % 2 ? 1000 : kManyElements,
                            .world_size = P,
                            .victim = static_cast<int>(seed + call) % P,
                            .seed = seed};
                        if (is_wanted(s, call) && (!fast_ || is_drawn(s))) add(s);
                    }
            }
    }

    // Returns whether a fast run includes the scenario: every fourth with three ranks, so
    // that all kinds occur.
    bool is_drawn(const Scenario& s) {
        return s.world_size == 3 && is_possible(s) && deaths_++ % 4 == 0;
    }

    bool is_wanted(const Scenario& s, unsigned call) const {
        switch (s.kind) {
            case Kind::kExits: return s.moment == Moment::kBetween;
            case Kind::kThrows: return s.moment != Moment::kInside;
            case Kind::kNoMemory:
            case Kind::kAborts:
            case Kind::kCrashes:
                return s.moment == Moment::kBetween &&
                       (fast_ || (s.seed + call) % 3 == 0);
            default: return true;
        }
    }

    // Adds faults after which the victim lives. There are fewer of these, because
    // survivors wait for deadlines.
    void add_silences_and_mismatches() {
        for (const int P : kWorldSizes)
            for (const int victim : {0, P - 1})
                for (const Kind kind :
                     {Kind::kStopped, Kind::kPaused, Kind::kSlow, Kind::kOtherCall,
                      Kind::kOtherSize, Kind::kSkips, Kind::kStopsEarly})
                    if (!fast_ || P <= 3)
                        add({.kind = kind, .world_size = P, .victim = victim});
    }

    // Adds faults while the ranks join and after the last operation.
    void add_ends_and_beginnings() {
        unsigned seed = 0;
        for (const int P : kWorldSizes)
            for (const int victim : {0, P - 1}) {
                const auto put = [&](Kind kind, Moment moment) {
                    if (!fast_ || P == 3)
                        add({.kind = kind,
                             .moment = moment,
                             .world_size = P,
                             .victim = victim,
                             .seed = ++seed});
                };
                put(Kind::kKilled, Moment::kShutdown);
                put(Kind::kStopped, Moment::kShutdown);
                put(Kind::kKilled, Moment::kLeaving);
                put(Kind::kAbsent, Moment::kJoining);
                put(Kind::kOtherWorld, Moment::kJoining);
                put(Kind::kTwice, Moment::kJoining);
                for (int time = 0; time < 3; ++time) put(Kind::kKilled, Moment::kJoining);
            }
    }

    // Adds ranks that die, stop or pause in the middle of an all-reduce of a large
    // tensor, which ranks that share memory reduce there, and of one in a subgroup.
    void add_large_tensors_and_subgroups() {
        unsigned seed = 0;
        std::vector<bool> in_subgroups{true};
        if (group_kind_ == "ring-shm") in_subgroups.push_back(false);
        for (const int P : kWorldSizes)
            for (const int victim : {0, P - 1})
                for (const bool in_subgroup : in_subgroups)
                    for (const Kind kind :
                         {Kind::kKilled, Kind::kStopped, Kind::kPaused}) {
                        ++seed;
                        if (fast_ && (P != 3 || in_subgroup != (victim == 0))) continue;
                        add({.kind = kind,
                             .moment = Moment::kInside,
                             .n = kManyElements,
                             .world_size = P,
                             .victim = victim,
                             .seed = seed,
                             .in_subgroup = in_subgroup});
                    }
    }

    // Returns whether the fault can occur in this kind of group.
    bool is_possible(const Scenario& s) const {
        const bool joins = s.moment == Moment::kJoining;
        const bool takes_the_process =
            s.kind == Kind::kAborts || s.kind == Kind::kCrashes;
        return group_kind_ != "threads" || !(joins || takes_the_process);
    }

    void add(Scenario s) {
        if (!is_possible(s)) return;
        s.is_over_gloo = group_kind_ == "gloo";
        s.timeout = timeout_of(s);
        all_.push_back(s);
    }

    const std::string group_kind_;
    const bool fast_;
    int deaths_ = 0;  // counted by is_drawn()
    std::vector<Scenario> all_;
};

}  // namespace

const char* kind_name(Kind kind) {
    constexpr const char* kNames[] = {
        "killed",      "exits",      "throws",           "no memory",
        "aborts",      "crashes",    "stopped",          "paused",
        "slow",        "other call", "other size",       "skips a call",
        "stops early", "absent",     "other world size", "there twice"};
    return kNames[static_cast<int>(kind)];
}

const char* moment_name(Moment moment) {
    constexpr const char* kNames[] = {"joining", "before",      "between",
                                      "inside",  "in shutdown", "leaving"};
    return kNames[static_cast<int>(moment)];
}

std::string describe(const Scenario& s) {
    return concat("rank ", s.victim, " of ", s.world_size, " ", kind_name(s.kind), " ",
                  moment_name(s.moment), ", ", operation_name(s.operation), " (",
                  algorithm_name(s.algorithm), ") of ", s.n,
                  s.in_subgroup ? " in a subgroup" : "", ", seed ", s.seed);
}

std::vector<Scenario> all_scenarios(const std::string& group_kind, bool fast,
                                    unsigned seed) {
    std::vector<Scenario> all = Table(group_kind, fast).all();
    if (seed == 0) return all;
    std::mt19937 random(seed);
    std::ranges::shuffle(all, random);
    for (Scenario& s : all) {
        s.victim = std::uniform_int_distribution(0, s.world_size - 1)(random);
        const int bits = std::uniform_int_distribution(3, 18)(random);
        s.n = std::uniform_int_distribution<int64_t>(1 << bits, 2 << bits)(random);
        s.seed = static_cast<unsigned>(random());
    }
    return all;
}

}  // namespace mini::dist::faults
