#include "libmini/distributed/transport/failure_detector.hpp"
#include "libmini/distributed/net/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace mini::dist {
namespace {

// How long to search for the rank that was lost first.
constexpr std::chrono::milliseconds kSearchTime(250);

// The pause between two looks at the other ranks' streams.
constexpr std::chrono::milliseconds kSearchPause(1);

// After its timeout, a rank spends at most this fraction of it (1 / kGraceShare) on
// finding the cause, so that all ranks have thrown before another tenth of the timeout
// has passed.
constexpr int kGraceShare = 20;

}  // namespace

FailureDetector::FailureDetector(int rank, std::vector<MessageStream>& streams,
                                 const CollectiveHistory& history)
    : rank_(rank), streams_(streams), history_(history), waiting_(streams.size()) {}

void FailureDetector::note_waiting(int waiting, const MessageHeader& header) {
    waiting_[static_cast<size_t>(waiting)] = {header.rank, header.collective};
}

void FailureDetector::connection_closed(int peer, std::chrono::milliseconds timeout) {
    MessageStream& closed_stream = stream(peer);
    const MessageHeader* const header = closed_stream.header();
    const bool in_report =
        header != nullptr && header->kind == MessageHeader::Kind::kFailure;
    const bool cut_off = closed_stream.is_in_message() && !in_report;

    // Read its report; check the messages before it for another collective.
    bool closed = false;
    const auto skipped = [&](const MessageHeader& skipped_header) {
        if (skipped_header.kind != MessageHeader::Kind::kPoint)
            history_.check_number(rank_, peer, skipped_header.collective);
    };
    const auto report =
        closed_stream.final_message(deadline_after(kFinalMessageTime), closed, skipped);
    if (report) report_of(peer, *report, timeout);

    // It reported nothing. In the middle of a message it could not report: ask the other
    // ranks.
    const int lost = cut_off ? first_to_go(peer, timeout) : peer;
    throw PeerLost(lost, concat("rank ", lost, " is gone: its connection to rank ", rank_,
                                " closed during ", describe(history_.current()),
                                "; its own output says why"));
}

// Finds the rank that was lost first, given that the connection to `cut_off` closed in
// the middle of a message: the rank that another rank reports, or a rank whose connection
// closed between two messages; else `cut_off` itself.
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

    // When the report is about the reporter itself, add what this rank was doing.
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

// A silent rank may itself be waiting. It reports the rank that it waits for when it
// fails or, if that report is late, after half of its timeout. A rank that has reported
// nothing is the cause. A chain that comes back to one of its ranks has no cause of its own.
void FailureDetector::follow_chain(int silent, std::string description, Deadline grace) {
    leave({Failure::Kind::kTimeout, silent, description});
    std::vector<char> is_in_chain(streams_.size());
    is_in_chain[static_cast<size_t>(rank_)] = true;
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed)
            throw PeerLost(silent,
                           concat("rank ", silent, " is gone (", description, ")"));
        const bool names_none =
            report && report->rank < 0;  // its text has all that it knows
        if (report && (names_none || report->kind != Failure::Kind::kTimeout))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw Timeout(
                concat(description, "; rank ", silent,
                       " is silent: is its process stopped, stuck, or in other code?"));
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }
    throw Timeout(concat(description,
                         ": these ranks wait for each other. Was the process of "
                         "one of them stopped, does a connection hang, or is the program "
                         "deadlocked?"));
}

// Returns the rank that `waiting` reported to wait for in this rank's current collective;
// -1 if it reported none.
int FailureDetector::awaited_by(int waiting) const {
    const Waiting& report = waiting_[static_cast<size_t>(waiting)];
    return report.collective == history_.current() ? report.awaited : -1;
}

void FailureDetector::leave(const Failure& reason) noexcept {
    if (std::exchange(has_left_, true)) return;
    try {
        MessageHeader header;
        header.kind = MessageHeader::Kind::kFailure;
        header.rank = reason.rank;
        header.detail = static_cast<uint64_t>(reason.kind);
        const std::string text = reason.message.substr(0, kMaxFailureBytes);
        for (MessageStream& other : streams_) {
            if (!other.is_open()) continue;
            try {
                // A report cannot be sent in the middle of another message.
                if (other.is_between_messages()) {
                    other.start(header, std::as_bytes(std::span(text)));
                    other.push();
                }
            } catch (const ConnectionClosed&) {
            }
            other.channel().end_sending();
        }
    } catch (...) {  // no memory for the text: the peers still see the closed connections
    }
}

}  // namespace mini::dist
