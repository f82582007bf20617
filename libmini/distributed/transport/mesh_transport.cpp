#include "libmini/distributed/transport/mesh_transport.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/distributed/net/poll_until.hpp"

namespace mini::dist {
namespace {

// How often a wait looks again, giving the core away in between, before it sleeps. Median
// time of an all-reduce of 87 KB on 2 shared cores, three runs each: 61, 58, 103 us
// without, 54, 35, 35 us with it (2 ranks); 274, 267, 267 and 248, 234, 227 us (4 ranks).
constexpr int kSpins = 100;

// How many turns may move something before a wait looks at its deadline.
constexpr unsigned kTurnsPerLook = 256;

// What a message that is put aside gets at first.
constexpr size_t kFirstRoom = 64 << 10;

// Room for the next bytes of the message that comes in: no more than twice what has come, as
// its header may promise more than its sender ever sends.
std::span<std::byte> room_in(std::vector<std::byte>& payload,
                             const MessageStream& stream) {
    const size_t wanted = std::max(kFirstRoom, 2 * stream.payload_received());
    if (stream.payload_received() == payload.size())
        payload.resize(std::min<size_t>(stream.header()->payload_bytes, wanted));
    return payload;
}

}  // namespace

std::string describe(const PointMessage& message) {
    const bool sends = message.direction == PointMessage::Direction::kSend;
    const std::string peer =
        message.peer == kAnySource ? "any rank" : concat("rank ", message.peer);
    return concat(sends ? "send to " : "recv from ", peer, " (tag ", message.tag, ", ",
                  message.data.size() / item_size(message.dtype), " ", message.dtype,
                  ")");
}

void finish(PointMessage& message) {
    message.done = true;
    const auto finished = std::exchange(message.finished, nullptr);
    if (finished) finished();
}

MeshTransport::MeshTransport(int rank, std::vector<MessageStream> streams)
    : rank_(rank),
      peers_(streams.size()),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    MINI_CHECK(bell_.is_open(), system_message("eventfd", errno));
    for (size_t i = 0; i < streams.size(); ++i) peers_[i].stream = std::move(streams[i]);
}

MeshTransport::~MeshTransport() = default;

void MeshTransport::begin(const Collective& collective,
                          std::chrono::milliseconds timeout) {
    history_.begin(collective);
    timeout_ = timeout;
    deadline_ = deadline_after(timeout);
    has_warned_ = false;
    told_ = kAnySource;
}

// ---- what is to move

void MeshTransport::enqueue(int to, Outgoing outgoing) {
    Peer& other = peer(to);
    bytes_sent_ += outgoing.payload.size();
    ++messages_sent_;
    other.outgoing.push_back(outgoing);
    if (other.outgoing.size() == 1) other.stream.start(outgoing.header, outgoing.payload);
}

void MeshTransport::want(int from, Wanted& wanted) {
    peer(from).wanted = &wanted;
    deliver_early(from, {MessageHeader::Kind::kCollective, 0});
}

void MeshTransport::send_recv(int to, std::span<const std::byte> out, int from,
                              std::span<std::byte> in, const Combine& combine) {
    bool sent = false;
    Wanted wanted{in, combine};
    MessageHeader header;
    header.collective = history_.current();
    enqueue(to, {header, out, &sent});
    want(from, wanted);
    run_until_done(sent, to, wanted.done, from);
}

void MeshTransport::send(int to, std::span<const std::byte> out) {
    bool sent = false;
    const bool nothing = true;
    MessageHeader header;
    header.collective = history_.current();
    enqueue(to, {header, out, &sent});
    run_until_done(sent, to, nothing, kNobody);
}

void MeshTransport::recv(int from, std::span<std::byte> in, const Combine& combine) {
    const bool nothing = true;
    Wanted wanted{in, combine};
    want(from, wanted);
    run_until_done(nothing, kNobody, wanted.done, from);
}

void MeshTransport::post(PointMessage& message) {
    points_.push_back(&message);
    if (message.direction == PointMessage::Direction::kSend) {
        MessageHeader header;
        header.kind = MessageHeader::Kind::kPoint;
        header.collective = {.operation = Operation::kSend,
                             .dtype = message.dtype,
                             .count = message.data.size() / item_size(message.dtype)};
        header.detail = message.tag;
        enqueue(message.peer, {header, message.data, &message.done});
        return;
    }
    const bool any = message.peer == kAnySource;
    (any ? any_source_ : peer(message.peer).receives).push_back(&message);
    for (int from = 0; from < world_size(); ++from)
        if (from != rank_ && (any || from == message.peer) && !message.done)
            deliver_early(from, {MessageHeader::Kind::kPoint, message.tag});
}

// ---- moving

// Moves everything on until this send and this receive are done.
void MeshTransport::run_until_done(const bool& sent, int to, const bool& received,
                                   int from) {
    int spins = 0;
    while (!sent || !received) {
        take_wake_up();
        if (++turns_ % kTurnsPerLook == 0) check_deadline(received ? to : from);
        if (move_all()) {
            spins = 0;
        } else if (++spins < kSpins) {
            ::sched_yield();
        } else if (!sent || !received) {
            const int awaited = received ? to : from;
            check_deadline(awaited);
            tell_that_we_wait(awaited);
            is_listening_ = true;
            sleep(has_warned_ ? deadline_ : deadline_ - timeout_ / 2);
        }
    }
    is_listening_ = false;
    if (std::exchange(has_told_all_, false)) tell_all_whom_we_await(kNobody);
}

// Tells a rank, once in a collective, that this one waits for it. Should it be in another
// collective, waiting for us or somebody else, it finds out.
void MeshTransport::tell_that_we_wait(int awaited) {
    if (std::exchange(told_, awaited) != awaited) tell(awaited, awaited);
}

// Tells all ranks: should one of them wait for this one until its deadline, it knows by then
// who keeps them both.
void MeshTransport::tell_all_whom_we_await(int awaited) {
    for (int other = 0; other < world_size(); ++other)
        if (other != rank_ && !peer(other).has_gone) tell(other, awaited);
}

void MeshTransport::tell(int to, int awaited) {
    Peer& other = peer(to);
    if (!other.outgoing.empty()) return;  // a message that says it is on its way
    MessageHeader header;
    header.kind = MessageHeader::Kind::kWaiting;
    header.rank = awaited;
    header.collective = history_.current();
    other.outgoing.push_back({header, {}, &nobody_asks_});
    other.stream.start(header, {});
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
            ::sched_yield();
        } else {
            check_point_deadlines();
            sleep(kNever);
        }
    }
}

// Shared memory does not tell that a rank is gone, its socket does: look there at times.
void MeshTransport::poll() {
    constexpr int kPollsPerLook = 16;
    if (!move_all() && ++idle_polls_ % kPollsPerLook == 0) sleep(Clock::now());
}

// One turn with every rank; whether anything moved.
bool MeshTransport::move_all() {
    bool moved = false;
    for (int other = 0; other < world_size(); ++other) {
        if (other == rank_) continue;
        if (!peer(other).outgoing.empty()) moved |= push_to(other);
        if (wants_input(other)) moved |= pull_from(other);
    }
    return finish_points() || moved;
}

// Lets go of the messages from point to point that are done; whether there were any.
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
    Peer& other = peer(to);
    try {
        const bool moved = other.stream.push();
        if (!other.stream.is_sent()) return moved;

        // Say so, and start the next one.
        *other.outgoing.front().done = true;
        other.outgoing.pop_front();
        if (!other.outgoing.empty())
            other.stream.start(other.outgoing.front().header,
                               other.outgoing.front().payload);
        return true;
    } catch (const ConnectionClosed&) {
        // A rank may go without hearing whom we await. What it sent before can still be read.
        if (other.outgoing.front().done != &nobody_asks_) peer_closed(to);
        other.outgoing.pop_front();
        if (!other.outgoing.empty()) peer_closed(to);
        if (!is_asked_for(to)) other.has_gone = true;
        return false;
    }
}

// Whether somebody asks for a message of this rank.
bool MeshTransport::is_asked_for(int from) const {
    const Peer& other = peers_[static_cast<size_t>(from)];
    return other.wanted != nullptr || !other.receives.empty() || !any_source_.empty();
}

bool MeshTransport::wants_input(int from) {
    // A message that nobody asks for stays where it is, once we have seen what it is.
    const Peer& other = peer(from);
    const bool is_waiting =
        other.stream.header() != nullptr && other.destination.done == nullptr;
    return is_asked_for(from) || (!is_waiting && !other.has_gone &&
                                  (other.stream.is_in_message() || is_listening_));
}

bool MeshTransport::pull_from(int from) {
    Peer& other = peer(from);
    MessageStream& stream = other.stream;
    try {
        bool moved = false;
        if (stream.header() == nullptr) {
            moved = stream.pull_header();
            if (stream.header() == nullptr) return moved;
        }
        if (other.destination.done == nullptr && !choose_destination(from)) return moved;
        if (Early* const early = other.destination.early)
            other.destination.place = room_in(early->payload, stream);
        moved |= stream.pull_payload(other.destination.place, other.destination.combine);
        if (stream.has_payload()) finish_arrival(from);
        return moved;
    } catch (const ConnectionClosed&) {
        // A rank that nobody needs any more may go.
        if (is_asked_for(from) || other.destination.done != nullptr) peer_closed(from);
        other.has_gone = true;
        return false;
    }
}

// ---- waiting

// Sleeps until something can move, somebody rings, or until `until`.
void MeshTransport::sleep(Deadline until) {
    std::vector<pollfd> entries = {{bell_.fd(), POLLIN, 0}};
    std::vector<Channel*> channels = {nullptr};
    bool can_sleep = true;
    for (int other = 0; other < world_size(); ++other) {
        if (other == rank_) continue;
        const int interest =
            (peer(other).outgoing.empty() ? Channel::kNothing : Channel::kToSend) |
            (wants_input(other) ? Channel::kToReceive : Channel::kNothing);
        if (interest == Channel::kNothing) continue;
        Channel& channel = peer(other).stream.channel();
        entries.push_back({channel.socket().fd(), 0, 0});
        can_sleep &= channel.prepare_to_sleep(interest, entries.back().events);
        until = std::min(until, channel.next_event());
        channels.push_back(&channel);
    }

    for (const PointMessage* point : points_) until = std::min(until, point->deadline);
    const int ready = can_sleep ? poll_until(entries, until) : 0;
    MINI_CHECK(ready >= 0 || errno == EINTR, system_message("poll", errno));
    for (size_t i = 1; i < channels.size(); ++i) channels[i]->wake_up(entries[i].revents);
}

// Says once, halfway, whom this rank waits for; gives up at the end.
void MeshTransport::check_deadline(int awaited) {
    check_point_deadlines();
    if (!has_warned_ && has_passed(deadline_ - timeout_ / 2)) {
        has_warned_ = true;
        logging::warning("waiting for rank ", awaited, " in ", activity(), " for ",
                         seconds_text(timeout_ / 2), " now; the deadline is ",
                         seconds_text(timeout_));
        has_told_all_ = true;
        tell_all_whom_we_await(awaited);
    }
    if (has_passed(deadline_))
        deadline_passed(awaited,
                        concat("rank ", rank_, " waited ", seconds_text(timeout_),
                               " for rank ", awaited, " in ", activity()));
}

void MeshTransport::check_point_deadlines() {
    for (const PointMessage* point : points_) {
        if (!has_passed(point->deadline)) continue;
        deadline_passed(point->peer,
                        concat("rank ", rank_, " waited ", seconds_text(point->timeout),
                               " in ", describe(*point)));
    }
}

void MeshTransport::set_on_wake(std::function<void()> on_wake) {
    on_wake_ = std::move(on_wake);
}

void MeshTransport::wake() noexcept {
    if (bell_rung_.exchange(true)) return;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(bell_.fd(), &one, sizeof one);
}

// Whether somebody rang since the last time.
bool MeshTransport::take_wake_up() {
    if (!bell_rung_.load(std::memory_order_relaxed)) return false;
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(bell_.fd(), &count, sizeof count);
    bell_rung_ = false;
    if (on_wake_) on_wake_();
    return true;
}

}  // namespace mini::dist
