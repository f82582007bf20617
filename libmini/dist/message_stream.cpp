#include "libmini/dist/message_stream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

namespace mini::dist {
namespace {

constexpr size_t kHeaderBytes = sizeof(MessageHeader);

}  // namespace

void MessageStream::start(const MessageHeader& header,
                          std::span<const std::byte> payload) {
    out_ = header;
    out_.payload_bytes = payload.size();
    payload_ = payload;
    sent_ = 0;
}

bool MessageStream::push() {
    // Header and payload leave with one call, so that a small message is one packet.
    const auto head =
        std::as_bytes(std::span(&out_, 1)).subspan(std::min(sent_, kHeaderBytes));
    const auto body = payload_.subspan(sent_ > kHeaderBytes ? sent_ - kHeaderBytes : 0);
    iovec parts[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                      {const_cast<std::byte*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t n = ::sendmsg(socket_.fd(), &message, MSG_NOSIGNAL);
    if (n >= 0) {
        sent_ += static_cast<size_t>(n);
        return n > 0;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return false;
    throw ConnectionClosed(system_message("send", errno));
}

const MessageHeader* MessageStream::header() const {
    return received_ >= kHeaderBytes ? &in_ : nullptr;
}

bool MessageStream::pull_header() {
    if (received_ >= kHeaderBytes) return false;
    const auto rest = std::as_writable_bytes(std::span(&in_, 1)).subspan(received_);
    const size_t n = recv_some(socket_, rest);
    received_ += n;
    return n > 0;
}

bool MessageStream::pull_payload(std::span<std::byte> payload) {
    const size_t n = recv_some(socket_, payload.subspan(received_ - kHeaderBytes));
    received_ += n;
    return n > 0;
}

bool MessageStream::has_payload() const {
    return received_ >= kHeaderBytes && received_ - kHeaderBytes == in_.payload_bytes;
}

void MessageStream::finish_message() { received_ = 0; }

std::optional<Failure> MessageStream::last_words(Deadline deadline, bool& closed) {
    std::string text;
    std::vector<std::byte> scrap(64 << 10);
    closed = false;
    try {
        while (true) {
            bool moved = pull_header();
            if (header() != nullptr) {
                // Collect a failure's text, and skip any other payload.
                const size_t left = in_.payload_bytes - (received_ - kHeaderBytes);
                const auto place = std::span(scrap).first(std::min(left, scrap.size()));
                const size_t n = recv_some(socket_, place);
                if (in_.kind == MessageHeader::Kind::kFailure &&
                    text.size() < kMaxFailureBytes)
                    text.append(reinterpret_cast<const char*>(place.data()), n);
                received_ += n;
                moved = moved || n > 0;
                if (has_payload() && in_.kind == MessageHeader::Kind::kFailure)
                    return Failure{static_cast<Failure::Kind>(in_.failure_kind), in_.rank,
                                   text};
                if (has_payload()) finish_message();
            }
            if (!moved && !wait_for(socket_, POLLIN, deadline)) return std::nullopt;
        }
    } catch (const ConnectionClosed&) {
        closed = true;
        return std::nullopt;
    }
}

}  // namespace mini::dist
