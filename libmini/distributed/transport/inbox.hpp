// Inbox: matches incoming messages with receives.
//
// A message is matched by its header, before any of its payload is read: with the receive
// of the collective, with a point-to-point receive of its tag, or, if there is no receive
// yet, with memory of the inbox, from which a later receive copies it. Messages of one
// kind and tag from one rank are delivered in the order in which they were sent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// A receive of the current collective.
struct CollectiveReceive {
    std::span<std::byte> buffer;
    Combine combine;
    bool done = false;
};

class Inbox {
  public:
    /// Messages must belong to the current collective of `history`, which outlives this
    /// object.
    Inbox(int rank, int world_size, const CollectiveHistory& history);

    /// Adds the receive of the next message of the collective from rank `from`; it may be
    /// done immediately. REQUIRES: `receive` lives until it is done.
    void expect(int from, CollectiveReceive& receive);

    /// Adds a point-to-point receive; it may be done immediately. REQUIRES: the direction
    /// is kRecv; `receive` lives until it is done.
    void expect(PointMessage& receive);

    /// Whether a receive waits for a message of rank `from`.
    bool is_expected(int from) const;

    /// Whether a buffer has been chosen for the incoming message from rank `from`.
    bool has_buffer(int from) const { return sender(from).buffer.done != nullptr; }

    /// Chooses the buffer of the message from rank `from` by its header. Returns whether
    /// it has one now. Throws MismatchedCollective for a message of another collective or
    /// size, and Error if too many unexpected messages are in memory.
    bool choose_buffer(int from, const MessageHeader& header);

    /// Reads more of the payload from rank `from`; sets the receive's `done` when it is
    /// complete. Returns whether any byte was read. REQUIRES: has_buffer(from).
    bool pull(int from, MessageStream& stream);

  private:
    // A message that arrived before its receive. The payload grows as bytes arrive.
    struct Early {
        MessageHeader header;
        std::vector<std::byte> payload;
        bool complete = false;
    };

    // The messages that one receive can match: those of the collective, or those with one
    // tag.
    using Sort = std::pair<MessageHeader::Kind, uint64_t>;
    static Sort sort_of(const MessageHeader& header);

    // The destination of the incoming payload.
    struct Buffer {
        std::span<std::byte> bytes;
        Combine combine;
        bool* done = nullptr;  // null: not chosen yet
        Early* early = nullptr;
    };

    struct Sender {
        CollectiveReceive* collective = nullptr;
        std::list<PointMessage*> receives;  // from this rank only, in order
        std::map<Sort, std::deque<Early>>
            early;  // the messages of each sort are in order
        Buffer buffer;
    };

    Sender& sender(int rank) { return senders_[static_cast<size_t>(rank)]; }
    const Sender& sender(int rank) const { return senders_[static_cast<size_t>(rank)]; }
    void check_size(int from, const MessageHeader& header, size_t expected) const;
    PointMessage* receive_for(int from, const MessageHeader& header);
    void match(PointMessage& receive, int from);
    void keep(int from, const MessageHeader& header);
    void finish(int from);
    void deliver_early(int from, Sort sort);
    bool deliver(int from, Early& early);

    const int rank_;
    const CollectiveHistory& history_;
    std::vector<Sender> senders_;          // by rank
    std::list<PointMessage*> any_source_;  // receives from any rank
    size_t early_bytes_ = 0;               // payload sizes of all early messages
    size_t early_messages_ = 0;            // from all ranks
};

}  // namespace mini::dist
