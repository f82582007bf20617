#include "libmini/distributed/simulation/simulated_channel.hpp"

#include <poll.h>

#include <algorithm>

namespace mini::dist {
namespace {

using Kind = SimulatedMessage::Kind;

constexpr const char* kClosedByPeer = "the other side closed the connection";

}  // namespace

SimulatedChannel::SimulatedChannel(SimulatedTime& time, Network& network, int rank,
                                   int peer)
    : time_(time), network_(network), rank_(rank), peer_(peer), fd_(time.add(*this)) {}

SimulatedChannel::~SimulatedChannel() {
    close();
    time_.remove(fd_);
}

size_t SimulatedChannel::room() const {
    const size_t queued = network_.queued_bytes(rank_, peer_);
    return queued < kBufferBytes ? kBufferBytes - queued : 0;
}

size_t SimulatedChannel::send_some(std::span<const std::byte> head,
                                   std::span<const std::byte> body) {
    if (has_ended_ || is_gone_ || network_.end_of(peer_, rank_) == Kind::kClosed)
        throw ConnectionClosed(kClosedByPeer);
    std::vector<std::byte> bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), body.begin(), body.end());
    const size_t n = std::min(bytes.size(), room());
    if (n > 0) network_.send(rank_, peer_, std::span(bytes).first(n));
    return n;
}

size_t SimulatedChannel::recv_some(std::span<std::byte> place) {
    if (place.empty()) return 0;
    if (is_closed_) throw ConnectionClosed("this side closed the connection");
    const SimulatedMessage* const message = network_.arrived(peer_, rank_);
    if (message == nullptr) {
        if (network_.end_of(peer_, rank_) != Kind::kBytes)
            throw ConnectionClosed(kClosedByPeer);
        return 0;
    }
    const size_t n = std::min(place.size(), message->bytes - read_);
    std::copy_n(message->payload.begin() + static_cast<ptrdiff_t>(read_), n,
                place.begin());
    read_ += n;
    if (read_ == message->bytes) {
        network_.pop(peer_, rank_);
        read_ = 0;
    }
    return n;
}

size_t SimulatedChannel::recv_combine(std::span<std::byte> place,
                                      const Combine& combine) {
    // Receive behind the bytes of the element that is there in part; keep the rest again.
    const size_t before = staged_.size();
    staged_.resize(place.size());
    const size_t have = before + recv_some(std::span(staged_).subspan(before));
    const size_t whole = have - have % combine.element_bytes;
    combine.apply(place.data(), staged_.data(), whole / combine.element_bytes);
    staged_.resize(have);
    staged_.erase(staged_.begin(), staged_.begin() + static_cast<ptrdiff_t>(whole));
    return whole;
}

bool SimulatedChannel::prepare_to_sleep(int interest, short& events) {
    events = connection_events(interest);
    return true;
}

void SimulatedChannel::wake_up(short revents) {
    if (revents & POLLRDHUP) is_gone_ = true;
}

short SimulatedChannel::ready(short events) const {
    const bool has_ended = network_.end_of(peer_, rank_) != Kind::kBytes;
    int ready = 0;
    if (is_closed_ || has_ended || network_.arrived(peer_, rank_) != nullptr)
        ready |= POLLIN;
    if (has_ended_ || room() > 0) ready |= POLLOUT;
    if (has_ended) ready |= POLLRDHUP;
    return static_cast<short>(ready & events);
}

void SimulatedChannel::end_sending() noexcept {
    if (has_ended_) return;
    has_ended_ = true;
    network_.send(rank_, peer_, {}, Kind::kEnd);
}

void SimulatedChannel::close() noexcept {
    if (is_closed_) return;
    is_closed_ = has_ended_ = true;
    network_.send(rank_, peer_, {}, Kind::kClosed);
}

}  // namespace mini::dist
