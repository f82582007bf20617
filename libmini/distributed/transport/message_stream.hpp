// A connection between two ranks as two streams of messages, one each way.
//
//     | header 48 bytes: kind, collective, payload size, tag | payload | header | ...
//
// Messages to send queue here. Only final_message blocks; every other function sends or
// receives as many bytes as possible. So a rank can send and receive at the same time: it
// calls push and the pull functions in turn, and waits only if none makes progress.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "libmini/distributed/transport/blame.hpp"
#include "libmini/distributed/transport/channel.hpp"
#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

struct MessageHeader {
    enum class Kind : uint32_t {
        kCollective = 1,
        kPoint = 2,
        kFailure = 3,  // the payload is to_text() of the sender's Failure
        kWaiting = 4,  // the rank that the sender waits for, in the given collective
    };

    Kind kind = Kind::kCollective;
    int32_t rank = -1;      // kWaiting: the awaited rank; -1: the wait is over
                            // kFailure: the sender, if it has left in good order
    Collective collective;  // of a kPoint: only operation, dtype and count
    uint64_t payload_bytes = 0;
    uint64_t tag = 0;  // of a kPoint
};
static_assert(sizeof(MessageHeader) == 48, "a header has no padding on the wire");

/// How long to read from a closed connection to find the failure that the other rank may
/// have reported.
constexpr std::chrono::milliseconds kFinalMessageTime(100);

class MessageStream {
  public:
    MessageStream() = default;
    explicit MessageStream(std::unique_ptr<Channel> channel)
        : channel_(std::move(channel)) {}

    /// Returns whether there is a connection; false for this rank's own stream.
    bool is_open() const { return channel_ != nullptr; }
    Channel& channel() { return *channel_; }
    const Channel& channel() const { return *channel_; }
    std::unique_ptr<Channel> take_channel() && { return std::move(channel_); }

    /// Adds a message to send; push() sets *done to true when it is sent. A message with
    /// a null `done` is a notice, which may be lost. REQUIRES: the payload and *done live
    /// until then.
    void enqueue(const MessageHeader& header, std::span<const std::byte> payload,
                 bool* done);
    bool has_outgoing() const { return !outbox_.empty(); }

    /// Sends more of the first message. Returns whether any byte was sent. Throws
    /// ConnectionClosed if the other side is gone. REQUIRES: has_outgoing().
    bool push();

    /// Drops the first message if it is a notice. Returns whether no message is left.
    bool drop_notice();

    /// Drops all messages and sends this one as far as possible, unless a message is
    /// partly sent. Throws like push.
    void send_last(const MessageHeader& header, std::span<const std::byte> payload);

    /// Returns the header of the incoming message; null while it is incomplete.
    const MessageHeader* header() const;

    /// Reads more of the header. Returns whether any byte was read. Throws
    /// ConnectionClosed if the other side is gone and all its bytes have been read.
    bool pull_header();

    /// Reads more of the payload into the buffer `payload`; with `combine`, combines the
    /// bytes with the elements in the buffer. Returns whether any byte was read. Throws
    /// like pull_header. REQUIRES: header() is not null; all calls for one message pass
    /// the same `combine` and the same buffer.
    bool pull_payload(std::span<std::byte> payload, const Combine& combine = {});

    /// Ends a message that has been read completely; the next message can then be read.
    void finish_message();

    /// Returns whether a message has begun to arrive and finish_message() has not been
    /// called.
    bool is_in_message() const { return received_ > 0; }

    /// Returns whether header and payload of the incoming message are complete.
    bool has_payload() const;

    /// Called for each message that final_message skips.
    using Skipped = std::function<void(const MessageHeader& header)>;

    /// Reads and skips messages until the other side reports a failure, and returns this
    /// report; blocks at most until the deadline. Returns is_gone if the other side closed
    /// the connection without a report, and neither if the deadline passed. A later call
    /// continues a report that has begun.
    Told final_message(Deadline deadline, const Skipped& skipped = {});

  private:
    bool skip_some();

    std::unique_ptr<Channel> channel_;

    struct Outgoing {
        MessageHeader header;
        std::span<const std::byte> payload;
        bool* done = nullptr;
    };
    std::deque<Outgoing> outbox_;
    size_t sent_ = 0;  // of the first message's header and payload together

    MessageHeader in_;
    size_t received_ = 0;  // of header and payload together
    std::string text_;     // of a failure, as far as it has arrived
};

}  // namespace mini::dist
