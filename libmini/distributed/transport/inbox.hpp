// Inbox: matches incoming messages with receives.
//
// The header of a message decides where its payload goes, before any of the payload is
// read: into the buffer of the collective's receive, or into the buffer of a
// point-to-point receive with the same tag. If there is no such receive yet, the payload
// goes into memory of the inbox, and a later receive copies it from there. Messages of
// one kind and tag from one rank are delivered in the order in which they were sent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// A receive of one message: of the collective, or point-to-point.
struct Receive {
    MessageHeader::Kind kind = MessageHeader::Kind::kCollective;
    int from = kAnySource;
    uint64_t tag = 0;  // of a point-to-point message
    std::span<std::byte> buffer{};
    Combine combine{};
    bool* done = nullptr;   // set to true when the payload is in the buffer
    int* source = nullptr;  // set to the sender when the message begins to arrive
};

class Inbox {
  public:
    /// Collective messages must belong to the current collective of `history`. REQUIRES:
    /// `history` outlives this object.
    Inbox(int rank, int world_size, const CollectiveHistory& history);

    /// Adds a receive. If its message has already arrived, the receive is done on return.
    /// REQUIRES: `buffer`, `done` and `source` (if not null) live until it is done.
    void expect(const Receive& receive);

    /// Returns whether a receive waits for a message from rank `from`, or for the rest of
    /// one; a receive from any rank counts if `any` is true.
    bool is_expected(int from, bool any) const;

    /// Returns whether a buffer has been chosen for the incoming message from rank
    /// `from`.
    bool has_buffer(int from) const { return sender(from).incoming.done != nullptr; }

    /// Chooses the buffer for the message from rank `from` by its header. If no receive
    /// matches and `keeps` is true, keeps the message in memory. Returns whether the
    /// message has a buffer now. Throws MismatchedCollective for a message of another
    /// collective or a point-to-point message of another size, and Error for a collective
    /// message of another size or if too many early messages are in memory.
    bool choose_buffer(int from, const MessageHeader& header, bool keeps);

    /// Reads more of the payload from rank `from`; sets the receive's `done` when the
    /// payload is complete. Returns whether any byte was read. REQUIRES:
    /// has_buffer(from).
    bool pull(int from, MessageStream& stream);

  private:
    // A message that arrived before its receive.
    struct Early {
        MessageHeader header;
        std::vector<std::byte> payload;
        bool complete = false;
    };

    // Identifies the messages that one receive can match: all messages of the collective,
    // or all point-to-point messages with one tag.
    using Sort = std::pair<MessageHeader::Kind, uint64_t>;

    struct Sender {
        Receive incoming;  // of the message that is arriving; `done` is null: not chosen
        bool is_early = false;                    // the incoming message is in `early`
        std::map<Sort, std::deque<Early>> early;  // the messages of each sort, in order
    };

    Sender& sender(int rank) { return senders_[static_cast<size_t>(rank)]; }
    const Sender& sender(int rank) const { return senders_[static_cast<size_t>(rank)]; }
    void check_size(int from, const MessageHeader& header, size_t expected) const;
    Receive take_receive(int from, const MessageHeader& header);
    Receive keep(int from, const MessageHeader& header);
    void deliver_early(int from, Sort sort);
    bool deliver(int from, const Early& early);

    const int rank_;
    const CollectiveHistory& history_;
    std::vector<Sender> senders_;    // by rank
    std::vector<Receive> receives_;  // that wait for their messages, in order
    size_t early_bytes_ = 0;         // payload sizes of all early messages
    size_t early_messages_ = 0;      // from all ranks
};

}  // namespace mini::dist
