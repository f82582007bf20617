#include "tests/faults/search/fault_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>

#include "libmini/distributed/net/failure.hpp"

namespace mini::test {
namespace {

using dist::Failure;
using dist::ProcessEnd;
using dist::seconds_of;

// The error that survivors may throw because of a fault.
struct Allowed {
    std::optional<Failure::Kind> kind;  // std::nullopt: no error
    std::set<int> ranks;                // that the error may name; empty: any rank
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
        case Fault::kPartition:
        case Fault::kFlood: return {Failure::Kind::kTimeout, {}};
        case Fault::kTwoOfOne: return {Failure::Kind::kOther, {}};
        case Fault::kMismatch: break;
    }
    return {Failure::Kind::kMismatch, {}};
}

// Returns the number after the last occurrence of `words` in `text`; -1 if `words` does
// not occur.
int last_number_behind(const std::string& text, const std::string& words) {
    const size_t at = text.rfind(words);
    if (at == std::string::npos) return -1;
    return std::atoi(text.c_str() + at + words.size());
}

// Returns the rank that a failure names. A Timeout may name the rank only in its message.
int named_rank(const Failure& failure) {
    if (failure.rank >= 0) return failure.rank;
    const size_t verdict = failure.message.rfind(" is silent: is its process");
    return last_number_behind(failure.message.substr(0, verdict),
                              verdict == std::string::npos ? " for rank " : "; rank ");
}

// Returns whether a failure reports a cycle of waiting ranks. Such a failure names no
// single rank.
bool names_circle(const Failure& failure) {
    return failure.message.find("these ranks wait for each other") != std::string::npos;
}

// Returns whether a text names one of these ranks. "rank 20" does not name rank 2.
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

// Returns what is wrong with the failure of a rank in a whole job; "" if the failure is
// allowed. The failure may come from the rendezvous.
std::string fault_of_group(const FaultPlan& plan, const Allowed& allowed,
                           const Failure& failure) {
    if (plan.fault == Fault::kTwoOfOne) {
        const std::string words =
            fmt::format("two processes have RANK {}: process ", plan.victim);
        const bool names_both =
            failure.message.find(words) != std::string::npos &&
            failure.message.find(" and process ") != std::string::npos;
        return names_both ? "" : "it does not name the two processes that have one rank";
    }
    if (plan.fault == Fault::kMismatch)
        return failure.kind == *allowed.kind ? "" : "it throws another kind of error";
    const bool is_circle = names_circle(failure) && allowed.ranks.size() != 1;
    if (allowed.ranks.empty() || is_circle) return "";
    return mentions(failure.message, allowed.ranks)
               ? ""
               : "it does not name a rank that has failed";
}

// Does the same for a job that begins with connected transports.
std::string fault_of_transport(const FaultPlan& plan, const Allowed& allowed,
                               const Failure& failure) {
    // A rank at an end of the held link may have returned and closed its connections.
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

// Returns whether check() allows a failure that names another rank (fault_check.hpp).
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

// Returns whether `process`, one of two processes with the same rank, started after the
// end of the job and found no store.
bool is_too_late(const FaultPlan& plan, int process,
                 const std::vector<ProcessEnd>& ends) {
    const auto returned =
        std::ranges::count(ends, ProcessEnd::How::kReturned, &ProcessEnd::how);
    return (process == plan.victim || process == plan.world_size) &&
           returned == std::ssize(ends) - 1;
}

// Returns whether the victim of a fault may end in any way.
bool ends_badly(Fault fault) {
    return fault == Fault::kStop || fault == Fault::kKill || fault == Fault::kFlood ||
           fault == Fault::kNoMemory;
}

// The time that messages about a failure need on the slowest links, in seconds.
constexpr double kTravelTime = 0.005;

// Returns the latest time at which a rank may throw, in seconds.
double last_moment(const FaultPlan& plan) {
    const double timeout = std::chrono::duration<double>(plan.timeout).count();
    if (plan.fault == Fault::kFlood) return timeout * 1.1 + kTravelTime;
    const auto calls = static_cast<double>(plan.calls.size());
    // A whole job also needs time for the rendezvous, for its end after a failure (for
    // example part_after_failure()), and for the shutdown.
    const double group = plan.is_whole ? 2 * timeout + 12 : 0;
    return calls * timeout * 1.1 + 1 + group + seconds_of(plan.duration);
}

// Returns what is wrong with the end of one rank; "" if the end is allowed. Adds 1 to
// `exceptions` if the rank named another rank and is_exception() allows the failure.
std::string fault_of(const FaultPlan& plan, int rank, const std::vector<ProcessEnd>& ends,
                     int& exceptions) {
    // A victim may end in any way, for example because a rank that was stopped for a long
    // time finds the other ranks gone.
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

}  // namespace mini::test
