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
                           std::shared_ptr<RankPorts> ports)
    : inner_(std::move(inner)), spec_(spec), ports_(std::move(ports)) {}

Clock::duration EmulatedLink::duration_of(size_t bytes) const {
    return time_to_send<Clock::duration>(bytes, spec_.bytes_per_second);
}

// ---- the sender's side

// Returns when the sender may begin a frame: kAhead before all bytes sent so far have
// left the out port.
Deadline EmulatedLink::accepts_at() const {
    const std::lock_guard lock(ports_->mutex);
    return ports_->out.free_at() - kAhead;
}

bool EmulatedLink::is_busy() const {
    const bool in_frame = out_head_left_ + out_body_left_ > 0;
    return !in_frame && accepts_at() > Clock::now();
}

void EmulatedLink::begin_frame(size_t bytes) {
    const std::lock_guard lock(ports_->mutex);
    const Deadline leaves = ports_->out.add(Clock::now(), duration_of(bytes)).begin;
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
                reached > Clock::now() + kLongestWay)
                throw ConnectionClosed("the other side does not use an emulated link");
            in_.resize(sizeof frame + frame.bytes);
            if (received_ < in_.size()) continue;

            const std::lock_guard lock(ports_->mutex);
            const Deadline due = ports_->in.add(reached, duration_of(frame.bytes)).end;
            arrived_.push_back({due, std::move(in_)});
            in_ = std::vector<std::byte>(sizeof frame);
            received_ = 0;
        }
    } catch (const ConnectionClosed& closed) {
        closed_ = closed.what();
    }
}

// Moves the bytes of the frames that are due to due_. Returns how many bytes of due_ have
// not been read.
size_t EmulatedLink::ready() {
    take_in();
    const Deadline now = Clock::now();
    while (!arrived_.empty() && arrived_.front().due <= now) {
        due_.erase(due_.begin(), due_.begin() + static_cast<ptrdiff_t>(read_));
        read_ = 0;
        const auto& bytes = arrived_.front().bytes;
        due_.insert(due_.end(), bytes.begin() + sizeof(Frame), bytes.end());
        arrived_.pop_front();
    }
    return due_.size() - read_;
}

size_t EmulatedLink::recv_some(std::span<std::byte> place) {
    const size_t n = std::min(ready(), place.size());
    if (n == 0 && is_over() && !place.empty()) throw ConnectionClosed(*closed_);
    std::ranges::copy(std::span(due_).subspan(read_, n), place.begin());
    read_ += n;
    return n;
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
        if (ready() > 0 || is_over()) return false;  // something to read
        if (!arrived_.empty()) next_event_ = std::min(next_event_, arrived_.front().due);
        if (closed_) inner_interest &= ~kToReceive;
    }
    return inner_->prepare_to_sleep(inner_interest, events);
}

}  // namespace mini::dist
