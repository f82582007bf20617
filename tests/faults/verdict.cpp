// Checks the error of every survivor, and its time (scenario.hpp).

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {
namespace {

constexpr double kDeathBound = 1000, kMismatchBound = 1000;  // milliseconds

// Returns the longer of 1.1 timeouts and the timeout + 1 s: a busy machine may need 1 s.
double latest(double timeout) { return timeout + std::max(0.1 * timeout, 1000.0); }

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

bool is_typed(const std::string& text) {
    return has(text, "PeerLost(") || has(text, "Timeout: ");
}

// `wanted` has pairs of a substring and a message. Returns the message of the first
// substring that is not in `text`; "" if all substrings are in `text`.
using Wanted = std::vector<std::pair<std::string, const char*>>;
std::string missing_from(const std::string& text, const Wanted& wanted) {
    for (const auto& [part, what] : wanted)
        if (!has(text, part)) return what;
    return "";
}

// Checks the error of a rank that failed to join. The error may name only rank 0: if rank
// 0 fails, it waits briefly for registered ranks and does not wait for other ranks.
std::string fault_of_joining(const Scenario& s, const std::string& text) {
    const std::string victim = concat("rank ", s.victim);
    if (has(text, "found no rank 0") || has(text, "rank 0, which keeps it, ended"))
        return "";
    switch (s.kind) {
        case Kind::kOtherWorld: return missing_from(text, {{"WORLD_SIZE", "no reason"}});
        case Kind::kTwice:  // no error if the two processes never met
            if (text.empty()) return "";
            return missing_from(text, {{"two processes have RANK", "no reason"}});
        default:
            if (!is_typed(text)) return "no PeerLost and no Timeout";
            return missing_from(text, {{victim, "the rank is not named"}});
    }
}

// Returns whether the text lists the victim among several silent ranks. Only backends
// with a roll call may list other ranks, which reply too late on a busy machine.
bool is_called_silent(const Scenario& s, const std::string& text) {
    const size_t end = text.find(" are silent");
    if (!s.is_over_gloo || end == std::string::npos) return false;
    const std::string ranks = text.substr(0, end);
    return has(ranks.substr(ranks.rfind("ranks ")), std::to_string(s.victim));
}

}  // namespace

bool ends_well(const Scenario& s) {
    return s.kind == Kind::kPaused || s.kind == Kind::kSlow ||
           s.moment == Moment::kShutdown || s.moment == Moment::kLeaving;
}

std::string fault_of(const Scenario& s, int rank, const std::string& text) {
    const std::string victim = concat("rank ", s.victim);
    const std::string lost = concat("PeerLost(", s.victim, ")");

    // The victim may complete the last collective and die while other ranks still run it.
    const bool may_be_late = s.is_over_gloo && s.kind == Kind::kKilled && has(text, lost);
    if (ends_well(s))
        return text.empty() || may_be_late ? ""
                                           : "an error was thrown where none is allowed";
    if (text.empty() && s.kind != Kind::kTwice) return "no error";
    if (s.moment == Moment::kJoining) return fault_of_joining(s, text);
    if (!has(text, " #") && !has(text, "the ranks join the group"))
        return "no operation and sequence number";
    switch (s.kind) {
        case Kind::kKilled:
        case Kind::kExits:
        case Kind::kAborts:
        case Kind::kCrashes:
        case Kind::kStopsEarly:
            if (rank == s.victim) return "";
            return missing_from(text,
                                {{lost, "no PeerLost"}, {victim, "rank not named"}});
        case Kind::kThrows:
            return missing_from(text,
                                {{lost, "no PeerLost"}, {"out of cheese", "no reason"}});
        case Kind::kNoMemory:
            return missing_from(text,
                                {{lost, "no PeerLost"}, {"bad_alloc", "no reason"}});
        case Kind::kStopped:
            if (has(text, "Timeout") && is_called_silent(s, text)) return "";
            return missing_from(text, {{"Timeout", "no Timeout"},
                                       {victim + " is silent", "rank not named"}});
        case Kind::kOtherCall:
        case Kind::kOtherSize:
        case Kind::kSkips:
            return missing_from(text, {{"MismatchedCollective", "no mismatch"},
                                       {victim, "rank not named"}});
        default: return "";
    }
}

std::string bound_broken(const Scenario& s, const Timing& timing) {
    const auto T = static_cast<double>(s.timeout.count());
    const bool joins = s.moment == Moment::kJoining;
    const bool is_mismatch = s.kind == Kind::kOtherCall || s.kind == Kind::kOtherSize ||
                             s.kind == Kind::kSkips;
    if (ends_well(s)) return "";
    if (joins && timing.after_last_start > latest(T))
        return concat("joining failed after ", timing.after_last_start, " ms");
    if (s.kind == Kind::kStopped && timing.after_first_start < 0.9 * T)
        return concat("the error came after ", timing.after_first_start,
                      " ms, too early");
    if (s.kind == Kind::kStopped && timing.after_last_start > latest(T))
        return concat("the error came after ", timing.after_last_start, " ms, too late");
    if (is_death(s.kind) && !joins && timing.after_fault > kDeathBound)
        return concat("the error came ", timing.after_fault, " ms after the death");
    if (is_mismatch && timing.after_fault > kMismatchBound)
        return concat("the error came ", timing.after_fault, " ms after the call");
    return "";
}

}  // namespace mini::dist::faults
