#include "libmini/distributed/transport/message_stream.hpp"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

constexpr size_t kHeaderBytes = sizeof(MessageHeader);
constexpr size_t kSkipBytes = 64 << 10;

// How many reads final_message makes between two checks of its deadline. Even if the
// deadline has passed already, final_message still reads the bytes that have arrived.
constexpr int kSkipsPerLook = 256;

// Sleeps until bytes arrive. Returns false if the deadline passes first.
bool wait_for_input(Channel& channel, Deadline deadline) {
    pollfd entry{channel.socket().fd(), 0, 0};
    int ready = 1;
    if (channel.prepare_to_sleep(Channel::kToReceive, entry.events))
        ready = poll_until({&entry, 1}, std::min(deadline, channel.next_event()));
    channel.wake_up(entry.revents);
    return ready != 0 || !has_passed(deadline);
}

}  // namespace

void MessageStream::enqueue(const MessageHeader& header,
                            std::span<const std::byte> payload, bool* done) {
    outbox_.push_back({header, payload, done});
    outbox_.back().header.payload_bytes = payload.size();
}

bool MessageStream::push() {
    const Outgoing& first = outbox_.front();
    const auto head =
        std::as_bytes(std::span(&first.header, 1)).subspan(std::min(sent_, kHeaderBytes));
    const auto body =
        first.payload.subspan(sent_ > kHeaderBytes ? sent_ - kHeaderBytes : 0);
    const size_t n = channel_->send_some(head, body);
    sent_ += n;
    if (n == head.size() + body.size()) {
        if (first.done != nullptr) *first.done = true;
        outbox_.pop_front();
        sent_ = 0;
    }
    return n > 0;
}

bool MessageStream::drop_notice() {
    if (outbox_.front().done == nullptr) {
        outbox_.pop_front();
        sent_ = 0;
    }
    return outbox_.empty();
}

void MessageStream::send_last(const MessageHeader& header,
                              std::span<const std::byte> payload) {
    if (sent_ > 0) return;
    outbox_.clear();
    enqueue(header, payload, nullptr);
    push();
}

const MessageHeader* MessageStream::header() const {
    return received_ >= kHeaderBytes ? &in_ : nullptr;
}

bool MessageStream::pull_header() {
    if (received_ >= kHeaderBytes) return false;
    const auto rest = std::as_writable_bytes(std::span(&in_, 1)).subspan(received_);
    const size_t n = channel_->recv_some(rest);
    received_ += n;
    return n > 0;
}

bool MessageStream::pull_payload(std::span<std::byte> payload, const Combine& combine) {
    const auto rest = payload.subspan(received_ - kHeaderBytes);
    if (rest.empty()) return false;
    const size_t n =
        combine ? channel_->recv_combine(rest, combine) : channel_->recv_some(rest);
    received_ += n;
    return n > 0;
}

bool MessageStream::has_payload() const {
    return received_ >= kHeaderBytes && received_ - kHeaderBytes == in_.payload_bytes;
}

void MessageStream::finish_message() { received_ = 0; }

// Reads more of the incoming message. Appends the payload of a failure to text_, and
// drops any other payload. Returns whether any byte was read.
bool MessageStream::skip_some() {
    const bool moved = pull_header();
    if (header() == nullptr || has_payload()) return moved;
    const size_t left = in_.payload_bytes - (received_ - kHeaderBytes);
    std::vector<std::byte> scrap(std::min(left, kSkipBytes));
    const size_t n = channel_->recv_some(scrap);
    if (in_.kind == MessageHeader::Kind::kFailure)
        text_.append(reinterpret_cast<const char*>(scrap.data()),
                     std::min(n, kMaxFailureBytes - text_.size()));
    received_ += n;
    return moved || n > 0;
}

Told MessageStream::final_message(Deadline deadline, const Skipped& skipped) {
    try {
        for (int skips = 1;; ++skips) {
            const bool moved = skip_some();
            if (has_payload()) {
                if (in_.kind == MessageHeader::Kind::kFailure)
                    return {.report = parse_failure(text_)};
                if (skipped) skipped(in_);
                finish_message();
            } else if (!moved && !wait_for_input(*channel_, deadline)) {
                return {};
            }
            if (skips % kSkipsPerLook == 0 && has_passed(deadline)) return {};
        }
    } catch (const ConnectionClosed&) {
        return {.is_gone = true};
    }
}

}  // namespace mini::dist
