#include "libmini/distributed/transport/mesh_transport.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

// How many times a wait checks for progress, yielding the core in between, before it
// sleeps: an all-reduce of 87 KB takes 35 to 55 us, and 58 to 103 us if it sleeps at once.
constexpr int kSpins = 100;

// How many of these checks do not yield, if the awaited rank shares memory and each rank can
// have a core: a message then arrives sooner than sched_yield() returns. An all-reduce of 4
// bytes by 2 ranks took 1.11 us if all yield, 0.77 us with 20 pauses that were four times as
// long (mini bench allreduce, AMD EPYC, 2 cores, 2026-11-30).
constexpr int kShortPauses = 60;

// How many turns of its loop a wait makes, while it makes progress, between two checks of
// its deadline.
constexpr unsigned kTurnsPerLook = 256;

// Waits for a moment, while another thread may use the units of this core. Longer pauses
// notice a message later. Without a pause, an all-reduce of 4 bytes by 2 ranks takes 0.85
// us, with it 0.76 (minirun -n 2 --bind-to core mini bench allreduce, Intel Xeon, 2
// cores, 2026-11-30).
void pause_shortly() {
#if defined(__aarch64__)
    asm volatile("isb");
#else
    __builtin_ia32_pause();
#endif
}

}  // namespace

MeshTransport::MeshTransport(int rank, std::vector<MessageStream> streams)
    : rank_(rank),
      has_core_(streams.size() <= std::thread::hardware_concurrency()),
      streams_(std::move(streams)),
      inbox_(rank, static_cast<int>(streams_.size()), history_),
      detector_(rank, streams_, history_),
      has_gone_(streams_.size()) {}

void MeshTransport::begin(const Collective& collective,
                          std::chrono::milliseconds timeout) {
    history_.begin(collective);
    timeout_ = timeout;
    deadline_.reset();
    has_warned_ = false;
    announced_to_ = kAnySource;
}

// ---- starting messages

void MeshTransport::enqueue(int to, const MessageHeader& header,
                            std::span<const std::byte> payload, bool& done) {
    bytes_sent_ += payload.size();
    ++messages_sent_;
    stream(to).enqueue(header, payload, &done);
}

void MeshTransport::send_recv(int to, std::span<const std::byte> out, int from,
                              std::span<std::byte> in, const Combine& combine) {
    bool sent = to == kNoRank, received = from == kNoRank;
    MessageHeader header;
    header.collective = history_.current();
    if (!sent) enqueue(to, header, out, sent);
    if (!received)
        inbox_.expect(
            {.from = from, .buffer = in, .combine = combine, .done = &received});
    run_until_done(sent, to, received, from);
}

void MeshTransport::post(PointMessage& message) {
    points_.push_back(&message);
    if (message.direction == PointMessage::Direction::kSend) {
        MessageHeader header;
        header.kind = MessageHeader::Kind::kPoint;
        header.collective = {.operation = Operation::kSend,
                             .dtype = message.dtype,
                             .count = message.data.size() / item_size(message.dtype)};
        header.tag = message.tag;
        enqueue(message.peer, header, message.data, message.done);
        return;
    }
    inbox_.expect({.kind = MessageHeader::Kind::kPoint,
                   .from = message.peer,
                   .tag = message.tag,
                   .buffer = message.data,
                   .done = &message.done,
                   .source = &message.source});
}

// ---- making progress

// Makes progress on all messages until `sent` and `received` are true.
void MeshTransport::run_until_done(const bool& sent, int to, const bool& received,
                                   int from) {
    int spins = 0;
    while (!sent || !received) {
        take_wake_up();
        if (++turns_ % kTurnsPerLook == 0) check_deadline(received ? to : from);
        if (move_all()) {
            spins = 0;
            continue;
        }
        if (sent && received) break;
        const int awaited = received ? to : from;
        if (++spins < kShortPauses && has_core_ && shares_memory_with(awaited)) {
            pause_shortly();
        } else if (spins < kSpins) {
            yield();
        } else {
            check_deadline(awaited);
            // Once in a collective: if rank `awaited` waits in another, it detects that.
            if (std::exchange(announced_to_, awaited) != awaited)
                send_waiting(awaited, awaited);
            is_listening_ = true;
            sleep(has_warned_ ? *deadline_ : *deadline_ - timeout_ / 2);
        }
    }
    is_listening_ = false;
    if (std::exchange(has_announced_to_all_, false)) announce_wait_to_all(kNoRank);
}

// Notifies all ranks to which no message is queued for which rank this rank waits (kNoRank:
// for none). If another rank's wait for this rank reaches its deadline, that rank then
// knows the cause of both waits.
void MeshTransport::announce_wait_to_all(int awaited) {
    for (int other = 0; other < world_size(); ++other)
        if (other != rank_ && !has_gone_[static_cast<size_t>(other)])
            send_waiting(other, awaited);
}

void MeshTransport::send_waiting(int to, int awaited) {
    if (stream(to).has_outgoing()) return;  // that message names the collective too
    MessageHeader header;
    header.kind = MessageHeader::Kind::kWaiting;
    header.rank = awaited;
    header.collective = history_.current();
    stream(to).enqueue(header, {}, nullptr);
    push_to(to);
}

void MeshTransport::progress() {
    int spins = 0;
    finished_points_ = 0;
    while (true) {
        if (++turns_ % kTurnsPerLook == 0) check_point_deadlines();
        const bool moved = move_all();
        if (finished_points_ > 0) return;
        if (take_wake_up()) return check_point_deadlines();
        if (moved) {
            spins = 0;
        } else if (++spins < kSpins) {
            yield();
        } else {
            check_point_deadlines();
            sleep(kNever);
        }
    }
}

// Shared memory does not show that a rank is gone, but the socket of its channel does:
// poll the socket regularly.
void MeshTransport::poll() {
    constexpr int kPollsPerLook = 16;
    if (!move_all() && ++idle_polls_ % kPollsPerLook == 0) sleep(Clock::now());
}

// Sends to and receives from every rank once. Returns whether a byte moved or a
// point-to-point message finished.
bool MeshTransport::move_all() {
    bool moved = false;
    for (int other = 0; other < world_size(); ++other) {
        if (other == rank_) continue;
        if (stream(other).has_outgoing()) moved |= push_to(other);
        if (wants_input(other)) moved |= pull_from(other);
    }
    return finish_points() || moved;
}

// Finishes the point-to-point messages that are done. Returns whether there was one.
bool MeshTransport::finish_points() {
    bool any = false;
    for (auto place = points_.begin(); place != points_.end();) {
        PointMessage* const point = *place;
        if (!point->done) {
            ++place;
            continue;
        }
        place = points_.erase(place);
        any = true;
        ++finished_points_;
        finish(*point);
    }
    return any;
}

bool MeshTransport::push_to(int to) {
    try {
        return stream(to).push();
    } catch (const ConnectionClosed&) {
        // If a rank has left, and only the notice of a wait could not be sent, this is
        // not an error: the rank's earlier messages can still be read.
        if (!stream(to).drop_notice()) connection_closed(to);
        if (!is_expected(to)) has_gone_[static_cast<size_t>(to)] = true;
        return false;
    }
}

// Returns whether rank `from` has left in good order: its last message says so.
bool MeshTransport::has_left(int from) const {
    const MessageHeader* const last = streams_[static_cast<size_t>(from)].header();
    return last && last->kind == MessageHeader::Kind::kFailure && last->rank == from;
}

// Returns whether a message from rank `from` is expected. A receive from any rank expects
// none of a rank that has left, unless all have.
bool MeshTransport::is_expected(int from) const {
    bool all = has_left(from);
    for (int other = 0; all && other < world_size(); ++other)
        all = other == rank_ || has_left(other);
    return inbox_.is_expected(from, all || !has_left(from));
}

bool MeshTransport::wants_input(int from) const {
    // The payload of an unexpected message stays in the channel.
    const MessageStream& other = streams_[static_cast<size_t>(from)];
    const bool is_unexpected = other.header() != nullptr && !inbox_.has_buffer(from);
    return is_expected(from) ||
           (!is_unexpected && !has_gone_[static_cast<size_t>(from)] &&
            (other.is_in_message() || is_listening_));
}

bool MeshTransport::pull_from(int from) {
    MessageStream& other = stream(from);
    try {
        bool moved = false;
        if (other.header() == nullptr) {
            moved = other.pull_header();
            if (other.header() == nullptr) return moved;
        }
        if (!inbox_.has_buffer(from) && !accept_message(from)) return moved;
        return inbox_.pull(from, other) || moved;
    } catch (const ConnectionClosed&) {
        // A rank from which no message is expected may leave.
        if (is_expected(from) || inbox_.has_buffer(from)) connection_closed(from);
        has_gone_[static_cast<size_t>(from)] = true;
        return false;
    }
}

// Handles the header of a message. Returns whether the message now has a buffer for its
// payload.
bool MeshTransport::accept_message(int from) {
    const MessageHeader& header = *stream(from).header();
    if (header.kind == MessageHeader::Kind::kFailure) {
        if (is_expected(from)) connection_closed(from);
        return false;
    }
    if (header.kind != MessageHeader::Kind::kPoint)
        history_.check_number(rank_, from, header.collective);
    detector_.note_waiting(from, header);
    if (header.kind == MessageHeader::Kind::kWaiting) {
        stream(from).finish_message();
        return false;
    }
    // Keep an unexpected message if this rank waits for a later one.
    return inbox_.choose_buffer(from, header, is_expected(from));
}

void MeshTransport::connection_closed(int peer) {
    const auto point = std::ranges::find(points_, peer, &PointMessage::peer);
    detector_.connection_closed(peer,
                                point == points_.end() ? timeout_ : (*point)->timeout);
}

// ---- waiting

// Sleeps until a channel is ready, wake() is called, or `until` has passed.
void MeshTransport::sleep(Deadline until) {
    std::vector<pollfd> entries = {{wake_event_.fd(), POLLIN, 0}};
    std::vector<Channel*> channels = {nullptr};
    bool can_sleep = true;
    for (int other = 0; other < world_size(); ++other) {
        if (other == rank_) continue;
        const int interest =
            (stream(other).has_outgoing() ? Channel::kToSend : Channel::kNothing) |
            (wants_input(other) ? Channel::kToReceive : Channel::kNothing);
        if (interest == Channel::kNothing) continue;
        Channel& channel = stream(other).channel();
        entries.push_back({channel.socket().fd(), 0, 0});
        can_sleep &= channel.prepare_to_sleep(interest, entries.back().events);
        until = std::min(until, channel.next_event());
        channels.push_back(&channel);
    }

    for (const PointMessage* point : points_) until = std::min(until, point->deadline);
    const int ready = can_sleep ? poll_until(entries, until) : 0;
    MINI_CHECK(ready >= 0 || errno == EINTR, system_message("poll", errno));
    if (ready > 0 && entries[0].revents != 0) wake_event_.clear();
    for (size_t i = 1; i < channels.size(); ++i) channels[i]->wake_up(entries[i].revents);
}

// Warns, once, when half of the timeout has passed: calls warn(). Throws when the whole
// timeout has passed: calls the detector, which finds the rank to name.
void MeshTransport::check_deadline(int awaited) {
    check_point_deadlines();
    if (!deadline_) deadline_ = deadline_after(timeout_);
    if (!has_warned_ && has_passed(*deadline_ - timeout_ / 2)) {
        has_warned_ = true;
        warn(awaited);
    }
    if (has_passed(*deadline_))
        detector_.deadline_passed(
            awaited,
            concat("rank ", rank_, " waited ", seconds_text(timeout_), " for rank ",
                   awaited, " in ", describe(history_.current())),
            timeout_);
}

// Logs a warning that names the awaited rank, and notifies all ranks of the wait.
void MeshTransport::warn(int awaited) {
    logging::warning("waiting for rank ", awaited, " in ", describe(history_.current()),
                     " for ", seconds_text(timeout_ / 2), " now; the deadline is ",
                     seconds_text(timeout_), note_);
    has_announced_to_all_ = true;
    announce_wait_to_all(awaited);
}

void MeshTransport::check_point_deadlines() {
    for (const PointMessage* point : points_) {
        if (!has_passed(point->deadline)) continue;
        detector_.deadline_passed(
            point->peer,
            concat("rank ", rank_, " waited ", seconds_text(point->timeout), " in ",
                   describe(*point)),
            point->timeout);
    }
}

void MeshTransport::wake() noexcept {
    if (is_wake_pending_.exchange(true)) return;
    wake_event_.set();
}

// If wake() was called since the last take_wake_up(), calls on_wake_ and returns true.
// Throws if interrupt() was called.
bool MeshTransport::take_wake_up() {
    MINI_CHECK(!detector_.is_interrupted(), "the group was destroyed during ",
               describe(history_.current()));
    if (!is_wake_pending_.load(std::memory_order_relaxed)) return false;
    // The event may be set later than the flag, so sleep() clears it, not this function.
    is_wake_pending_ = false;
    if (on_wake_) on_wake_();
    return true;
}

void MeshTransport::interrupt() noexcept {
    detector_.interrupt();
    wake();
}

}  // namespace mini::dist
