#include "libmini/distributed/transport/failure_detector.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

// How long to search for the rank that was lost first.
constexpr std::chrono::milliseconds kSearchTime(250);

// The pause between two reads of the other ranks' streams.
constexpr std::chrono::milliseconds kSearchPause(1);

// After its timeout, a rank spends at most 1 / kGraceShare of the timeout on finding the
// cause, so that all ranks throw within 1.1 times the timeout.
constexpr int kGraceShare = 20;

[[noreturn]] void throw_gone(int rank, const std::string& description) {
    throw PeerLost(rank, concat("rank ", rank, " is gone (", description, ")"));
}

[[noreturn]] void throw_silent(int rank, const std::string& description) {
    throw Timeout(concat(description, "; rank ", rank,
                         " is silent: is its process stopped, stuck, or in other code?"));
}

[[noreturn]] void throw_circle(const std::string& description) {
    throw Timeout(concat(description,
                         ": these ranks wait for each other. Was the process of one of "
                         "them stopped, does a connection hang, or is the program "
                         "deadlocked?"));
}

}  // namespace

FailureDetector::FailureDetector(int rank, std::vector<MessageStream>& streams,
                                 const CollectiveHistory& history)
    : rank_(rank), streams_(streams), history_(history), waiting_(streams.size()) {}

void FailureDetector::note_waiting(int waiting, const MessageHeader& header) {
    waiting_[static_cast<size_t>(waiting)] = header;
}

void FailureDetector::connection_closed(int peer, std::chrono::milliseconds timeout) {
    MessageStream& closed_stream = stream(peer);
    const MessageHeader* const header = closed_stream.header();
    const bool in_report =
        header != nullptr && header->kind == MessageHeader::Kind::kFailure;
    const bool cut_off = closed_stream.is_in_message() && !in_report;

    // Read the peer's report. Check the messages before the report for another
    // collective.
    bool closed = false;
    const auto skipped = [&](const MessageHeader& skipped_header) {
        if (skipped_header.kind != MessageHeader::Kind::kPoint)
            history_.check_number(rank_, peer, skipped_header.collective);
    };
    const auto report =
        closed_stream.final_message(deadline_after(kFinalMessageTime), closed, skipped);
    if (report) report_of(peer, *report, timeout);

    // The peer reported nothing. If its connection closed in the middle of a message, it
    // could not report: search the reports of the other ranks.
    const int lost = cut_off ? first_to_go(peer, timeout) : peer;
    throw PeerLost(lost, concat("rank ", lost, " is gone: its connection to rank ", rank_,
                                " closed during ", describe(history_.current()),
                                "; its own output says why"));
}

// Finds the rank that was lost first, after the connection to `cut_off` closed in the
// middle of a message. Throws the failure that another rank reports. Otherwise returns a
// rank whose connection closed between two messages, or `cut_off` if there is no such
// rank.
int FailureDetector::first_to_go(int cut_off, std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(kSearchTime);
    for (bool others = true; others && !has_passed(deadline); sleep_for(kSearchPause)) {
        others = false;
        for (int other = 0; other < world_size(); ++other) {
            if (other == rank_ || other == cut_off) continue;
            others = true;
            bool closed = false;
            const auto report = stream(other).final_message(Clock::now(), closed);
            if (report) report_of(other, *report, timeout);
            if (closed && !stream(other).is_in_message()) return other;
        }
    }
    return cut_off;
}

void FailureDetector::report_of(int reporter, const Failure& failure,
                                std::chrono::milliseconds timeout) {
    Failure meaning = reported(failure, reporter);

    // If the reporter reports its own failure, add what this rank was doing.
    if (failure.kind == Failure::Kind::kOther || failure.rank == reporter)
        meaning.message +=
            concat("; rank ", rank_, " was in ", describe(history_.current()));
    const bool names_another = failure.rank >= 0 && failure.rank < world_size() &&
                               failure.rank != rank_ && failure.rank != reporter;
    if (failure.kind == Failure::Kind::kTimeout && names_another)
        follow_chain(failure.rank, meaning.message,
                     deadline_after(timeout / kGraceShare));
    throw_failure(meaning);
}

void FailureDetector::deadline_passed(int silent, const std::string& description,
                                      std::chrono::milliseconds timeout) {
    if (silent < 0) throw Timeout(concat(description, "; no rank has sent it"));
    follow_chain(silent, description, deadline_after(timeout / kGraceShare));
}

// Finds the rank to name, and throws. `description` describes the events so far.
//
// First this rank leaves, so that the other ranks learn of the failure. Then it follows
// the chain of ranks that wait for each other, from `silent` on. Of each rank it reads
// the failure that the rank has reported, until the deadline `grace`:
//
//     the connection is closed, without a report     throw_gone
//     a report that is no kTimeout, or that names    throw_failure(reported(...)): its
//     no rank (rank < 0)                             text has all that is known
//     a report of a kTimeout that names a rank       continue with that rank; "waited"
//     no report, but awaited_by() returns a rank     continue with that rank; "waits"
//     no report, and awaited_by() returns -1 or      throw_silent: `silent` is the cause
//     this rank
//     the report or the notice names a rank          throw_silent: `silent`, which sent
//     >= world_size()                                it, is the cause
//     the rank is in the chain already               throw_circle
//
// If `silent` waits for this rank according to a notice, the notice is old: this rank has
// been in the same collective since then, so `silent` is the cause. A report is final.
void FailureDetector::follow_chain(int silent, std::string description, Deadline grace) {
    leave({Failure::Kind::kTimeout, silent, description});
    MINI_CHECK(!is_interrupted_, "the group was destroyed: ", description);
    std::vector<char> is_in_chain(streams_.size());
    is_in_chain[static_cast<size_t>(rank_)] = true;
    // [lab17.2] Follow the chain from `silent` on.
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }
    // [lab17.2]
    throw_circle(description);
}

// Returns the rank for which rank `waiting` waits in this rank's current collective,
// according to its last notice; -1 if there is no such notice.
int FailureDetector::awaited_by(int waiting) const {
    const MessageHeader& notice = waiting_[static_cast<size_t>(waiting)];
    return notice.collective == history_.current() ? notice.rank : -1;
}

void FailureDetector::leave(const Failure& reason) noexcept {
    if (std::exchange(has_left_, true)) return;
    try {
        MessageHeader header;
        header.kind = MessageHeader::Kind::kFailure;
        const std::string text = to_text(reason);
        for (MessageStream& other : streams_) {
            if (!other.is_open()) continue;
            try {
                other.send_last(header, std::as_bytes(std::span(text)));
            } catch (const ConnectionClosed&) {
            }
            other.channel().end_sending();
        }
    } catch (...) {  // no memory for the text: the peers still see the closed connections
    }
    has_reported_ = true;
}

void FailureDetector::interrupt() noexcept {
    is_interrupted_ = true;
    if (!has_reported_) return;
    for (MessageStream& other : streams_)
        if (other.is_open()) other.channel().close();
}

}  // namespace mini::dist
