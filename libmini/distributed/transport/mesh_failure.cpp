// What a mesh transport does when something goes wrong (mesh_transport.hpp).

#include <sched.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

// How long to look who it was that left first.
constexpr std::chrono::milliseconds kSearchTime(250);

// How much of its timeout a rank spends, when it has passed, on finding who is to blame:
// all is said before a tenth more has gone by.
constexpr int kGraceShare = 20;

}  // namespace

// The connection to `closed_peer` has ended. Find out why: in its own words, or, when it was cut
// off in the middle of a message and could not say, in those of another.
void MeshTransport::peer_closed(int closed_peer) {
    MINI_CHECK(!interrupted_, "the group was destroyed during ", activity());
    MessageStream& stream = peer(closed_peer).stream;
    const bool cut_off = stream.is_in_message() &&
                         !(stream.header() != nullptr &&
                           stream.header()->kind == MessageHeader::Kind::kFailure);
    bool closed = false;
    const auto skipped = [&](const MessageHeader& header) {  // it may have called another
        if (header.kind != MessageHeader::Kind::kPoint)
            history_.check_number(rank_, closed_peer, header.collective);
    };
    const auto words = stream.last_words(deadline_after(kLastWordsTime), closed, skipped);
    if (words) peer_reports(closed_peer, *words);

    const int lost = cut_off ? first_to_go(closed_peer) : closed_peer;
    throw PeerLost(lost,
                   concat("rank ", lost, " is gone: its connection to rank ", rank_,
                          " closed during ", activity(), "; its own output says why"));
}

// Who really is gone when `cut_off` ended in the middle of a message: whoever another rank
// names, or has ended between two messages; `cut_off` itself when nobody else has gone.
int MeshTransport::first_to_go(int cut_off) {
    const Deadline deadline = deadline_after(kSearchTime);
    for (bool others = true; others && !has_passed(deadline); ::sched_yield()) {
        others = false;
        for (int other = 0; other < world_size(); ++other) {
            if (other == rank_ || other == cut_off) continue;
            others = true;
            MessageStream& stream = peer(other).stream;
            bool closed = false;
            const auto words = stream.last_words(Clock::now(), closed);
            if (words) peer_reports(other, *words);
            if (closed && !stream.is_in_message()) return other;
        }
    }
    return cut_off;
}

void MeshTransport::peer_reports(int reporter, const Failure& failure) {
    Failure meaning = reported(failure, reporter);

    // At first hand it says what happened there: add what it happened to here.
    if (failure.kind == Failure::Kind::kOther || failure.rank == reporter)
        meaning.message += concat("; rank ", rank_, " was in ", activity());
    const bool names_another = failure.rank >= 0 && failure.rank < world_size() &&
                               failure.rank != rank_ && failure.rank != reporter;
    if (failure.kind == Failure::Kind::kTimeout && names_another)
        follow_silence(failure.rank, meaning.message,
                       deadline_after(timeout_ / kGraceShare));
    throw_failure(meaning);
}

void MeshTransport::deadline_passed(int silent, const std::string& story) {
    if (silent == kAnySource) throw Timeout(concat(story, "; no rank has sent it"));
    follow_silence(silent, story, deadline_after(timeout_ / kGraceShare));
}

// Who does not answer may itself be waiting: its last words say for whom or, where they are
// late, what it said halfway. The one that says nothing is the one to look at.
void MeshTransport::follow_silence(int silent, std::string story, Deadline grace) {
    leave({Failure::Kind::kTimeout, silent, story});
    for (int hop = 0; hop < world_size() && silent != rank_; ++hop) {
        bool closed = false;
        const auto words = peer(silent).stream.last_words(grace, closed);
        if (closed)
            throw PeerLost(silent, concat("rank ", silent, " is gone (", story, ")"));
        const bool names_none = words && words->rank < 0;  // its text says what it knows
        if (words && (names_none || words->kind != Failure::Kind::kTimeout))
            throw_failure(reported(*words, silent));
        const int next = words ? words->rank : awaited_by(silent);
        if (next < 0 || next >= world_size() || (!words && next == rank_)) break;
        story +=
            concat("; rank ", silent, words ? " waited" : " waits", " for rank ", next);
        silent = next;
    }
    throw Timeout(concat(story, "; rank ", silent,
                         " is silent: is its process stopped, stuck, or in other code?"));
}

// Whom a rank said that it waits for, in the collective that is under way here; -1 for nobody.
int MeshTransport::awaited_by(int waiting) const {
    const Peer& other = peers_[static_cast<size_t>(waiting)];
    return other.awaits_in == history_.current() ? other.awaits : kNobody;
}

void MeshTransport::leave(const Failure& reason) noexcept {
    if (std::exchange(has_left_, true)) return;
    try {
        MessageHeader header;
        header.kind = MessageHeader::Kind::kFailure;
        header.rank = reason.rank;
        header.detail = static_cast<uint64_t>(reason.kind);
        const std::string text = reason.message.substr(0, kMaxFailureBytes);
        for (Peer& other : peers_) {
            if (!other.stream.is_open()) continue;
            try {
                // In the middle of a message there is no room for words.
                if (other.stream.is_between_messages()) {
                    other.stream.start(header, std::as_bytes(std::span(text)));
                    other.stream.push();
                }
            } catch (const ConnectionClosed&) {
            }
            ::shutdown(other.stream.channel().socket().fd(), SHUT_WR);
        }
    } catch (...) {  // no memory for the text: the closed connections say enough
    }
}

void MeshTransport::interrupt() noexcept {
    interrupted_ = true;
    for (const Peer& other : peers_)
        if (other.stream.is_open())
            ::shutdown(other.stream.channel().socket().fd(), SHUT_RDWR);
    wake();  // who awaits nobody does not look at them
}

}  // namespace mini::dist
