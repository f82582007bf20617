// Inbox: where incoming messages go.
//
// A message is matched by its header, before a byte of its payload reaches a buffer: to the
// receive of the collective, to a receive from point to point with its tag, or, when there is
// none yet, to memory of the inbox, from which a later receive takes it. Messages of one kind
// and tag from one rank are delivered in the order in which they were sent.

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

/// A receive of the collective that is under way.
struct CollectiveReceive {
    std::span<std::byte> buffer;
    Combine combine;
    bool done = false;
};

class Inbox {
  public:
    /// `history` outlives this: it knows the collective that messages must belong to.
    Inbox(int rank, int world_size, const CollectiveHistory& history);

    /// Waits for the next message of the collective from rank `from`; `receive` lives until
    /// it is done, which may be at once.
    void expect(int from, CollectiveReceive& receive);

    /// Waits for a message from point to point; it lives until it is done, which may be at
    /// once. REQUIRES: a receive.
    void expect(PointMessage& receive);

    /// Whether a receive waits for a message of rank `from`.
    bool is_expected(int from) const;

    /// Whether the message that is coming in from rank `from` has a buffer.
    bool has_buffer(int from) const { return sender(from).buffer.done != nullptr; }

    /// Chooses the buffer of the message from rank `from` by its header; whether it has one
    /// now. Throws MismatchedCollective for a message of another collective or size, and
    /// Error when more messages wait than memory is for.
    bool choose_buffer(int from, const MessageHeader& header);

    /// Reads on in the payload from rank `from` and marks the receive done when it is
    /// complete. Returns whether any byte came. REQUIRES: has_buffer(from).
    bool pull(int from, MessageStream& stream);

  private:
    // A message that came before it was expected. Its payload grows as its bytes come.
    struct Early {
        MessageHeader header;
        std::vector<std::byte> payload;
        bool complete = false;
    };

    // What a receive may take: messages of the collective, or those with one tag.
    using Sort = std::pair<MessageHeader::Kind, uint64_t>;
    static Sort sort_of(const MessageHeader& header);

    // Where the payload goes that is coming in.
    struct Buffer {
        std::span<std::byte> bytes;
        Combine combine;
        bool* done = nullptr;  // null: not chosen yet
        Early* early = nullptr;
    };

    struct Sender {
        CollectiveReceive* collective = nullptr;
        std::list<PointMessage*> receives;        // from this rank alone, in order
        std::map<Sort, std::deque<Early>> early;  // of each sort in order
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
    size_t early_bytes_ = 0;               // that all ranks have announced
    size_t early_messages_ = 0;            // of all ranks
};

}  // namespace mini::dist
