#include "libmini/distributed/transport/emulated_link.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mini::dist {
namespace {

constexpr size_t kFrameBytes = 16 << 10;

// How far a sender may be ahead of the link, as if a socket's buffer held its bytes.
constexpr std::chrono::milliseconds kAhead(2);

// Longer than any frame needs to arrive: the slowest link takes 36 hours for a frame.
constexpr std::chrono::hours kLongestWay(48);

}  // namespace

EmulatedLink::EmulatedLink(std::unique_ptr<Channel> inner, LinkSpec spec,
                           std::shared_ptr<RankPorts> ports, Now now)
    : inner_(std::move(inner)),
      spec_(spec),
      ports_(std::move(ports)),
      now_(std::move(now)) {}

Clock::duration EmulatedLink::duration_of(size_t bytes) const {
    return time_to_send<Clock::duration>(bytes, spec_.bytes_per_second);
}

// ---- the sender's side

// Returns when the sender may begin a frame: kAhead before all bytes sent so far have left
// the out port.
Deadline EmulatedLink::accepts_at() const {
    const std::lock_guard lock(ports_->mutex);
    return ports_->out.free_at() - kAhead;
}

bool EmulatedLink::is_busy() const {
    const bool in_frame = out_head_left_ + out_body_left_ > 0;
    return !in_frame && accepts_at() > now_();
}

void EmulatedLink::begin_frame(size_t bytes) {
    const std::lock_guard lock(ports_->mutex);
    const Deadline leaves = ports_->out.add(now_(), duration_of(bytes)).begin;
    out_ = {(leaves + spec_.delay).time_since_epoch().count(), bytes};
    out_head_left_ = sizeof out_;
    out_body_left_ = bytes;
}

size_t EmulatedLink::send_some(std::span<const std::byte> head,
                               std::span<const std::byte> body) {
    if (is_busy() || head.size() + body.size() == 0) return 0;
    if (out_head_left_ + out_body_left_ == 0)
        begin_frame(std::min(head.size() + body.size(), kFrameBytes));
    if (out_head_left_ > 0) {
        const auto frame = std::as_bytes(std::span(&out_, 1));
        out_head_left_ -= inner_->send_some(frame.last(out_head_left_), {});
        if (out_head_left_ > 0) return 0;
    }
    head = head.first(std::min(head.size(), out_body_left_));
    body = body.first(std::min(body.size(), out_body_left_ - head.size()));
    const size_t n = inner_->send_some(head, body);
    out_body_left_ -= n;
    return n;
}

// ---- the receiver's side

// Reads the frames that have arrived on the inner channel, and queues each at this rank's
// in port.
void EmulatedLink::take_in() {
    try {
        while (!closed_) {
            received_ += inner_->recv_some(std::span(in_).subspan(received_));
            if (received_ < in_.size()) return;
            Frame frame;
            std::memcpy(&frame, in_.data(), sizeof frame);
            const Deadline reached{Clock::duration(frame.reached)};
            if (frame.bytes == 0 || frame.bytes > kFrameBytes ||
                reached > now_() + kLongestWay)
                throw ConnectionClosed("the other side does not use an emulated link");
            in_.resize(sizeof frame + frame.bytes);
            if (received_ < in_.size()) continue;

            const std::lock_guard lock(ports_->mutex);
            const Deadline due = ports_->in.add(reached, duration_of(frame.bytes)).end;
            arrived_.push_back({due, std::move(in_), sizeof frame});
            in_ = std::vector<std::byte>(sizeof frame);
            received_ = 0;
        }
    } catch (const ConnectionClosed& closed) {
        closed_ = closed.what();
    }
}

// Returns how many received bytes are due.
size_t EmulatedLink::ready(Deadline now) const {
    size_t n = 0;
    for (const Arrived& frame : arrived_) {
        if (frame.due > now) break;
        n += frame.bytes.size() - frame.read;
    }
    return n;
}

// Returns whether the inner channel has closed and all received frames are due.
bool EmulatedLink::is_over(Deadline now) const {
    return closed_ && (arrived_.empty() || arrived_.back().due <= now);
}

// Returns how many of `wanted` bytes can be handed out, in whole elements.
size_t EmulatedLink::take_due(size_t wanted, size_t element_bytes) {
    needed_ = element_bytes;
    take_in();
    const Deadline now = now_();  // read once, so that ready() and is_over() agree
    const size_t n = std::min(ready(now), wanted);
    if (n < element_bytes && is_over(now) && wanted > 0) throw ConnectionClosed(*closed_);
    return n - n % element_bytes;
}

// Copies the next place.size() bytes to `place`. REQUIRES: take_due() has returned them.
void EmulatedLink::hand_out(std::span<std::byte> place) {
    for (size_t n = 0; n < place.size();) {
        Arrived& frame = arrived_.front();
        const size_t step = std::min(frame.bytes.size() - frame.read, place.size() - n);
        std::memcpy(&place[n], &frame.bytes[frame.read], step);
        frame.read += step;
        n += step;
        if (frame.read == frame.bytes.size()) arrived_.pop_front();
    }
}

size_t EmulatedLink::recv_some(std::span<std::byte> place) {
    const size_t n = take_due(place.size(), 1);
    hand_out(place.first(n));
    return n;
}

size_t EmulatedLink::recv_combine(std::span<std::byte> place, const Combine& combine) {
    std::vector<std::byte> elements(take_due(place.size(), combine.element_bytes));
    hand_out(elements);
    combine.apply(place.data(), elements.data(), elements.size() / combine.element_bytes);
    return elements.size();
}

// ---- sleeping

// Sets next_event_ to the time when a frame becomes due or the link accepts bytes again:
// poll cannot report these two events.
bool EmulatedLink::prepare_to_sleep(int interest, short& events) {
    next_event_ = kNever;
    int inner_interest = interest;
    if (is_busy()) {
        inner_interest &= ~kToSend;
        if (interest & kToSend) next_event_ = accepts_at();
    }
    if (interest & kToReceive) {
        const Deadline now = now_();
        if (is_over(now) || ready(now) >= needed_) return false;  // something to read
        const auto next = std::ranges::find_if(
            arrived_, [&](const Arrived& frame) { return frame.due > now; });
        if (next != arrived_.end()) next_event_ = std::min(next_event_, next->due);
        if (closed_) inner_interest &= ~kToReceive;
    }
    return inner_->prepare_to_sleep(inner_interest, events);
}

}  // namespace mini::dist
