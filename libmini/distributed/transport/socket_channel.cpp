#include "libmini/distributed/transport/socket_channel.hpp"

#include <poll.h>

#include <memory>
#include <span>

namespace mini::dist {
namespace {

constexpr size_t kReadBytes = 128 << 10;
constexpr size_t kMaxUnread = 64 << 20;

}  // namespace

// Reads the unread bytes first: closing a socket with unread bytes resets the connection,
// and bytes in flight to the other side, perhaps the report of a failure, would be lost.
SocketChannel::~SocketChannel() {
    const auto scrap = std::make_unique_for_overwrite<std::byte[]>(kReadBytes);
    for (size_t read = 0; read < kMaxUnread;) {
        const ssize_t n = system().recv(socket_.fd(), std::span(scrap.get(), kReadBytes));
        if (n <= 0) break;
        read += static_cast<size_t>(n);
    }
}

size_t SocketChannel::send_some(std::span<const std::byte> head,
                                std::span<const std::byte> body) {
    if (is_gone_) throw ConnectionClosed("the other side closed the connection");
    return dist::send_some(socket_, head, body);
}

size_t SocketChannel::recv_some(std::span<std::byte> place) {
    return dist::recv_some(socket_, place);
}

// A side that only sends also polls for POLLRDHUP, which reports that the other side has
// closed its sending side and is gone.
bool SocketChannel::prepare_to_sleep(int interest, short& events) {
    int wanted = 0;
    if (interest & kToSend) wanted |= POLLOUT;
    if (interest & kToReceive) wanted |= POLLIN;
    if (interest == kToSend) wanted |= POLLRDHUP;
    events = static_cast<short>(wanted);
    return true;
}

// A rank that has shut down its sending side reads no more bytes, so for a sender this
// rank is gone. A receiver detects the end of the stream after it has read all bytes.
void SocketChannel::wake_up(short revents) {
    if (revents & POLLRDHUP) is_gone_ = true;
}

}  // namespace mini::dist
