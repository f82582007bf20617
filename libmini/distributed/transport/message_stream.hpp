// A connection between two ranks as two streams of messages, one each way.
//
//     | header 48 bytes: kind, what it belongs to, payload size | payload | header | ...
//
// All functions move what can be moved without blocking. That is what lets a rank send
// and receive at the same time: it pushes a little, pulls a little, and waits only when
// neither moves.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/transport/channel.hpp"
#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

struct MessageHeader {
    enum class Kind : uint32_t {
        kCollective = 1,
        kPoint = 2,
        kFailure = 3,
        kWaiting = 4,  // the rank that the sender waits for, in the collective named
    };

    Kind kind = Kind::kCollective;
    int32_t rank =
        -1;  // kFailure: the rank it is about; kWaiting: -1 when the wait is over
    Collective collective;  // kCollective; kPoint: operation, dtype and count
    uint64_t payload_bytes = 0;
    uint64_t detail = 0;  // kPoint: the tag; kFailure: a Failure::Kind
};
static_assert(sizeof(MessageHeader) == 48, "what travels has no holes");

/// How long to read on for a failure that a rank whose connection has closed may have reported.
constexpr std::chrono::milliseconds kFinalMessageTime(100);

class MessageStream {
  public:
    MessageStream() = default;
    explicit MessageStream(std::unique_ptr<Channel> channel)
        : channel_(std::move(channel)) {}

    /// Whether there is a connection at all: not to oneself.
    bool is_open() const { return channel_ != nullptr; }
    Channel& channel() { return *channel_; }
    const Channel& channel() const { return *channel_; }
    std::unique_ptr<Channel> take_channel() && { return std::move(channel_); }

    /// Starts a message; push moves it on and returns whether any byte left. REQUIRES:
    /// is_sent() before the next one; the payload lives until then.
    void start(const MessageHeader& header, std::span<const std::byte> payload);
    bool push();
    bool is_sent() const { return sent_ == sizeof out_ + payload_.size(); }

    /// Whether no message has left in part: one that was only started may be replaced.
    bool is_between_messages() const { return sent_ == 0 || is_sent(); }

    /// The header of the message that is coming in, once it is there in full.
    const MessageHeader* header() const;

    /// Reads on in the header; in the payload, whose place, and what to do with what is
    /// there already, the caller chooses, the same for all calls of one message. The place
    /// may be the beginning of a larger one that later calls bring. Return whether any byte
    /// came. Throw ConnectionClosed.
    bool pull_header();
    bool pull_payload(std::span<std::byte> payload, const Combine& combine = {});

    /// Forgets the message that has been read in full, and is ready for the next.
    void finish_message();

    /// Whether a message has come in part.
    bool is_in_message() const { return received_ > 0; }
    bool has_payload() const;

    /// Bytes of its payload that have come. REQUIRES: header() is not null.
    size_t payload_received() const { return received_ - sizeof in_; }

    /// What is told of messages that are skipped.
    using Skipped = std::function<void(const MessageHeader& header)>;

    /// Reads and skips until a failure that the other side reports, and returns it;
    /// nothing when it closed the connection without one, or when the deadline passed
    /// (then closed is false).
    std::optional<Failure> final_message(Deadline deadline, bool& closed,
                                         const Skipped& skipped = {});

  private:
    bool skip_some(std::string& words);

    std::unique_ptr<Channel> channel_;

    MessageHeader out_;
    std::span<const std::byte> payload_;
    size_t sent_ = sizeof(MessageHeader);  // of header and payload together

    MessageHeader in_;
    size_t received_ = 0;  // of header and payload together
};

/// Longest text of a failure that is sent or believed.
constexpr size_t kMaxFailureBytes = 4096;

}  // namespace mini::dist
