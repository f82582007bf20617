#include "libmini/distributed/transport/failure_detector.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/blame.hpp"

namespace mini::dist {
namespace {

// How long to search for the rank that was lost first.
constexpr std::chrono::milliseconds kSearchTime(250);

// After its timeout, a rank spends at most 1 / kGraceShare of the timeout on finding the
// cause, so that all ranks throw within 1.1 times the timeout.
constexpr int kGraceShare = 20;

}  // namespace

FailureDetector::FailureDetector(int rank, std::vector<MessageStream>& streams,
                                 const CollectiveHistory& history)
    : rank_(rank), streams_(streams), history_(history), waiting_(streams.size()) {}

void FailureDetector::note_waiting(int sender, const MessageHeader& header) {
    if (header.kind != MessageHeader::Kind::kPoint)
        waiting_[static_cast<size_t>(sender)] = header;
}

void FailureDetector::connection_closed(int peer, std::chrono::milliseconds timeout) {
    MessageStream& closed_stream = stream(peer);
    const MessageHeader* const header = closed_stream.header();
    const bool was_reporting =
        header != nullptr && header->kind == MessageHeader::Kind::kFailure;
    const bool was_sending = closed_stream.is_in_message() && !was_reporting;

    // Read the peer's report. Check the messages before the report for another
    // collective.
    const auto skipped = [&](const MessageHeader& skipped_header) {
        if (skipped_header.kind != MessageHeader::Kind::kPoint)
            history_.check_number(rank_, peer, skipped_header.collective);
    };
    const Told told =
        closed_stream.final_message(deadline_after(kFinalMessageTime), skipped);
    if (told.report) throw_reported(peer, *told.report, timeout);

    // The peer reported nothing. A rank that leaves in the middle of a message cannot report:
    // it may have left because another rank is lost. Search the reports of the others.
    const int lost = was_sending ? first_lost_rank(peer, timeout) : peer;
    throw PeerLost(lost, concat("rank ", lost, " is gone: its connection to rank ", rank_,
                                " closed during ", describe(history_.current()),
                                "; its own output says why"));
}

// Finds the rank that was lost first, after the connection to `cut_off` closed in the
// middle of a message. Throws the failure that another rank reports. Otherwise returns a
// rank whose connection closed between two messages, or `cut_off` if there is no such
// rank.
int FailureDetector::first_lost_rank(int cut_off, std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(kSearchTime);
    for (bool others = true; others && !has_passed(deadline);
         sleep_for(std::chrono::milliseconds(1))) {
        others = false;
        for (int other = 0; other < world_size(); ++other) {
            if (other == rank_ || other == cut_off) continue;
            others = true;
            const Told told = stream(other).final_message(Clock::now());
            if (told.report) throw_reported(other, *told.report, timeout);
            if (told.is_gone && !stream(other).is_in_message()) return other;
        }
    }
    return cut_off;
}

void FailureDetector::throw_reported(int reporter, const Failure& failure,
                                     std::chrono::milliseconds timeout) {
    Failure meaning = reported(failure, reporter);

    // If the reporter reports its own failure, add what this rank was doing.
    if (failure.kind == Failure::Kind::kOther || failure.rank == reporter)
        meaning.message +=
            concat("; rank ", rank_, " was in ", describe(history_.current()));
    const bool names_another = failure.rank >= 0 && failure.rank < world_size() &&
                               failure.rank != rank_ && failure.rank != reporter;
    if (failure.kind == Failure::Kind::kTimeout && names_another)
        deadline_passed(failure.rank, meaning.message, timeout);
    throw_failure(meaning);
}

void FailureDetector::deadline_passed(int silent, const std::string& description,
                                      std::chrono::milliseconds timeout) {
    if (silent < 0) throw Timeout(concat(description, "; no rank has sent it"));
    leave({Failure::Kind::kTimeout, silent, description});
    MINI_CHECK(!is_interrupted_, "the group was destroyed: ", description);
    const Deadline grace = deadline_after(timeout / kGraceShare);
    throw_failure(blame(rank_, world_size(), silent, description, [&](int rank) {
        Told told = stream(rank).final_message(
            grace, [&](const MessageHeader& skipped) { note_waiting(rank, skipped); });
        const MessageHeader& notice = waiting_[static_cast<size_t>(rank)];
        if (notice.collective.sequence <= history_.current().sequence)
            told.waits_for = notice.rank;
        return told;
    }));
}

void FailureDetector::leave(const Failure& reason) noexcept {
    if (std::exchange(has_left_, true)) return;
    try {
        MessageHeader header;
        header.kind = MessageHeader::Kind::kFailure;
        if (reason.kind == Failure::Kind::kPeerLost) header.rank = reason.rank;
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
