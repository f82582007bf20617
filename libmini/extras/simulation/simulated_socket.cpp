#include "libmini/extras/simulation/simulated_socket.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace mini::dist {
namespace {

using Kind = SimulatedMessage::Kind;

}  // namespace

int fail_with(int error) {
    errno = error;
    return -1;
}

void SimulatedConnection::establish(OneWay& out, OneWay& in) {
    out_ = &out;
    in_ = &in;
}

size_t SimulatedConnection::room() const {
    const size_t queued = out_->queued_bytes();
    return queued < kBufferBytes ? kBufferBytes - queued : 0;
}

ssize_t SimulatedConnection::send(std::span<const std::byte> head,
                                  std::span<const std::byte> body) {
    if (!is_established()) return fail_with(error_ != 0 ? error_ : EAGAIN);
    if (has_ended_) return fail_with(EPIPE);
    if (in_->end() == Kind::kClosed || network_.is_dead(owner()))
        return fail_with(ECONNRESET);
    std::vector<std::byte> bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), body.begin(), body.end());
    const size_t n = std::min(bytes.size(), room());
    if (n == 0) return fail_with(EAGAIN);
    network_.send(*out_, std::span(bytes).first(n));
    return static_cast<ssize_t>(n);
}

ssize_t SimulatedConnection::recv(std::span<std::byte> bytes) {
    if (!is_established()) return fail_with(error_ != 0 ? error_ : EAGAIN);
    if (network_.is_dead(owner())) return fail_with(ECONNRESET);
    if (is_closed_) return 0;
    const SimulatedMessage* const message = in_->arrived();
    if (message == nullptr) return in_->end() != Kind::kBytes ? 0 : fail_with(EAGAIN);
    const size_t n = std::min(bytes.size(), message->bytes - read_);
    std::copy_n(message->payload.begin() + static_cast<ptrdiff_t>(read_), n,
                bytes.begin());
    read_ += n;
    if (read_ == message->bytes) {
        network_.pop(*in_);
        read_ = 0;
    }
    return static_cast<ssize_t>(n);
}

void SimulatedConnection::end_sending() noexcept {
    if (!is_established() || has_ended_) return;
    has_ended_ = true;
    network_.send(*out_, {}, Kind::kEnd);
}

void SimulatedConnection::close() noexcept {
    if (is_closed_) return;
    is_closed_ = has_ended_ = true;
    if (is_established()) network_.send(*out_, {}, Kind::kClosed);
}

bool SimulatedConnection::is_between(int a, int b) const {
    return is_established() && ((out_->from() == a && out_->to() == b) ||
                                (out_->from() == b && out_->to() == a));
}

void SimulatedConnection::cut() {
    network_.cut(*out_);
    network_.cut(*in_);
}

short SimulatedConnection::ready(short events) const {
    if (network_.is_dead(owner()) || error_ != 0)
        return static_cast<short>(events & (POLLIN | POLLOUT | POLLRDHUP));
    if (!is_established()) return 0;
    const bool has_ended = in_->end() != Kind::kBytes;
    int ready = 0;
    if (is_closed_ || has_ended || in_->arrived() != nullptr) ready |= POLLIN;
    if (has_ended_ || in_->end() == Kind::kClosed || room() > 0) ready |= POLLOUT;
    if (has_ended) ready |= POLLRDHUP;
    return static_cast<short>(ready & events);
}

void SimulatedListener::close() noexcept {
    for (const auto& connection : backlog) connection->close();
    backlog.clear();
}

short SimulatedListener::ready(short events) const {
    return backlog.empty() ? short{0} : static_cast<short>(events & POLLIN);
}

short SimulatedEvent::ready(short events) const {
    return is_set ? static_cast<short>(events & POLLIN) : short{0};
}

}  // namespace mini::dist
