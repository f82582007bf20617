#include "tests/faults/scenario.hpp"

#include "libmini/core/error.hpp"

namespace mini::dist::faults {
namespace {

constexpr int kWorldSizes[] = {2, 3, 4, 7};
constexpr int64_t kManyElements = 300'000;  // some hundred pieces on the way

struct Calls {
    Operation operation;
    Algorithm algorithm = Algorithm::kAuto;
};

const std::vector<Calls>& calls() {
    static const std::vector<Calls> all = {
        {Operation::kAllReduce, Algorithm::kRing},
        {Operation::kAllReduce, Algorithm::kRecursiveDoubling},
        {Operation::kAllReduce, Algorithm::kHalvingDoubling},
        {Operation::kAllReduce, Algorithm::kTree},
        {Operation::kAllReduce, Algorithm::kNaive},
        {Operation::kBroadcast},
        {Operation::kReduce},
        {Operation::kAllGather},
        {Operation::kGather},
        {Operation::kScatter},
        {Operation::kReduceScatter},
        {Operation::kAllToAll},
        {Operation::kBarrier}};
    return all;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The ends of a process, at every moment, in every operation, on a first, a middle and a
// last rank.
void add_deaths(std::vector<Scenario>& all, bool fast) {
    unsigned seed = 0;
    for (const int P : kWorldSizes)
        for (const Calls& c : calls())
            for (const Moment moment :
                 {Moment::kBefore, Moment::kBetween, Moment::kInside})
                for (const Kind kind : {Kind::kKilled, Kind::kExits, Kind::kThrows}) {
                    ++seed;
                    if (kind == Kind::kExits && moment != Moment::kBetween) continue;
                    if (kind == Kind::kThrows && moment == Moment::kInside) continue;
                    const int victim = static_cast<int>(seed) % P;
                    const int64_t n = seed % 2 ? 1000 : kManyElements;
                    const bool keep = !fast || (P == 3 && seed % 3 == 0);
                    if (keep)
                        all.push_back(
                            {kind, moment, c.operation, c.algorithm, n, P, victim, seed});
                }
}

// What ranks that are there do wrong; waits for deadlines, so fewer of them.
void add_silences_and_mismatches(std::vector<Scenario>& all, bool fast) {
    for (const int P : kWorldSizes) {
        if (fast && P > 3) continue;
        for (const int victim : {0, P - 1}) {
            for (const Kind kind :
                 {Kind::kStopped, Kind::kPaused, Kind::kSlow, Kind::kOtherCall,
                  Kind::kOtherSize, Kind::kSkips, Kind::kStopsEarly})
                all.push_back({.kind = kind, .world_size = P, .victim = victim});
            all.push_back({.kind = Kind::kKilled,
                           .moment = Moment::kShutdown,
                           .world_size = P,
                           .victim = victim});
        }
    }
}

bool names_operation(const std::string& text) { return has(text, " #"); }

}  // namespace

const char* kind_name(Kind kind) {
    constexpr const char* kNames[] = {
        "killed", "exits",      "throws",     "stopped",      "paused",
        "slow",   "other call", "other size", "skips a call", "stops early"};
    return kNames[static_cast<int>(kind)];
}

const char* moment_name(Moment moment) {
    constexpr const char* kNames[] = {"before", "between", "inside", "in shutdown"};
    return kNames[static_cast<int>(moment)];
}

std::string describe(const Scenario& s) {
    return concat("rank ", s.victim, " of ", s.world_size, " ", kind_name(s.kind), " ",
                  moment_name(s.moment), ", ", operation_name(s.operation), " (",
                  algorithm_name(s.algorithm), ") of ", s.n);
}

std::vector<Scenario> all_scenarios(bool fast) {
    std::vector<Scenario> all;
    add_deaths(all, fast);
    add_silences_and_mismatches(all, fast);
    return all;
}

std::string fault_of(const Scenario& s, int rank, const std::string& text) {
    const std::string victim = concat("rank ", s.victim);
    const bool ends_well =
        s.kind == Kind::kPaused || s.kind == Kind::kSlow || s.moment == Moment::kShutdown;
    if (ends_well) return text.empty() ? "" : "it must be no error";
    if (text.empty()) return "no error";
    if (!names_operation(text)) return "no operation and sequence number";
    switch (s.kind) {
        case Kind::kKilled:
        case Kind::kExits:
        case Kind::kThrows:
        case Kind::kStopsEarly:
            if (rank == s.victim) return "";
            if (!has(text, concat("PeerLost(", s.victim, ")"))) return "no PeerLost";
            return has(text, victim) ? "" : "the rank is not named";
        case Kind::kStopped:
            if (!has(text, "Timeout")) return "no Timeout";
            return has(text, victim + " is silent") ? "" : "the silent rank is not named";
        case Kind::kOtherCall:
        case Kind::kOtherSize:
        case Kind::kSkips:
            if (!has(text, "MismatchedCollective")) return "no MismatchedCollective";
            return has(text, victim) ? "" : "the rank is not named";
        case Kind::kPaused:
        case Kind::kSlow: break;
    }
    return "";
}

void step(ProcessGroup& group, const Scenario& s) {
    const auto P = static_cast<size_t>(group.world_size());
    const int root = s.world_size - 1;
    const Tensor data = Tensor::ones({s.n});
    const std::vector<Tensor> blocks(P, data);
    std::vector<Tensor> places;
    for (size_t i = 0; i < P; ++i) places.push_back(Tensor::zeros({s.n}));
    const bool is_root = group.rank() == root;
    const std::vector<Tensor> none;
    switch (s.operation) {
        case Operation::kAllReduce:
            return group.all_reduce(data, ReduceOp::kSum, s.algorithm);
        case Operation::kBroadcast: return group.broadcast(data, root);
        case Operation::kReduce: return group.reduce(data, root);
        case Operation::kAllGather: return group.all_gather(places, data);
        case Operation::kGather: return group.gather(is_root ? places : none, data, root);
        case Operation::kScatter:
            return group.scatter(data, is_root ? places : none, root);
        case Operation::kReduceScatter: return group.reduce_scatter(data, places);
        case Operation::kAllToAll: return group.all_to_all(places, blocks);
        default: return group.barrier();
    }
}

}  // namespace mini::dist::faults
