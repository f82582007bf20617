#include "libmini/distributed/transport/inbox.hpp"

#include <algorithm>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {
namespace {

// Limits on early messages, so that no rank can fill another rank's memory. More early
// messages are an error.
constexpr size_t kMaxEarlyBytes = size_t{1} << 30;
constexpr size_t kMaxEarlyMessages = size_t{1} << 18;

bool is_for(const Receive& receive, int from) {
    return receive.from == kAnySource || receive.from == from;
}

std::string size_fault(int from, size_t sent, int rank, size_t expected) {
    return concat("rank ", from, " sent ", sent, " bytes where rank ", rank, " expects ",
                  expected);
}

}  // namespace

Inbox::Inbox(int rank, int world_size, const CollectiveHistory& history)
    : rank_(rank), history_(history), senders_(static_cast<size_t>(world_size)) {}

void Inbox::expect(const Receive& receive) {
    receives_.push_back(receive);
    for (int from = 0; from < static_cast<int>(senders_.size()); ++from)
        if (from != rank_ && is_for(receive, from) && !*receive.done)
            deliver_early(from, {receive.kind, receive.tag});
}

bool Inbox::is_expected(int from, bool any) const {
    const bool is_arriving = has_buffer(from) && !sender(from).is_early;
    return is_arriving || std::ranges::any_of(receives_, [&](const Receive& receive) {
               return receive.from == from || (any && receive.from == kAnySource);
           });
}

bool Inbox::choose_buffer(int from, const MessageHeader& header, bool keeps) {
    Sender& other = sender(from);
    other.incoming = take_receive(from, header);
    other.is_early = !has_buffer(from) && keeps;
    if (other.is_early) other.incoming = keep(from, header);
    return has_buffer(from);
}

// Removes and returns the receive that matches the message and was added first; a Receive
// whose `done` is null if no receive matches.
Receive Inbox::take_receive(int from, const MessageHeader& header) {
    const auto found = std::ranges::find_if(receives_, [&](const Receive& receive) {
        return is_for(receive, from) && receive.kind == header.kind &&
               receive.tag == header.tag;
    });
    if (found == receives_.end()) return {};
    check_size(from, header, found->buffer.size());
    const Receive receive = *found;
    receives_.erase(found);
    if (receive.source != nullptr) *receive.source = from;
    return receive;
}

bool Inbox::pull(int from, MessageStream& stream) {
    Sender& other = sender(from);
    const bool moved = stream.pull_payload(other.incoming.buffer, other.incoming.combine);
    if (!stream.has_payload()) return moved;
    *std::exchange(other.incoming, {}).done = true;
    const MessageHeader header = *stream.header();
    stream.finish_message();
    if (std::exchange(other.is_early, false))
        deliver_early(from, {header.kind, header.tag});
    return moved;
}

void Inbox::check_size(int from, const MessageHeader& header, size_t expected) const {
    if (header.kind == MessageHeader::Kind::kCollective) {
        history_.check_same(rank_, from, header.collective);
        MINI_CHECK(header.payload_bytes == expected,
                   size_fault(from, header.payload_bytes, rank_, expected), " in ",
                   describe(history_.current()));
        return;
    }
    if (header.payload_bytes == expected) return;
    throw MismatchedCollective(
        "mismatched messages: ", size_fault(from, header.payload_bytes, rank_, expected),
        " (tag ", tag_name(header.tag), ", ", header.collective.count, " ",
        header.collective.dtype, " sent)");
}

// Starts an early message: a message without a matching receive. Returns its receive.
Receive Inbox::keep(int from, const MessageHeader& header) {
    early_bytes_ += header.payload_bytes;
    ++early_messages_;
    MINI_CHECK(header.payload_bytes <= kMaxEarlyBytes && early_bytes_ <= kMaxEarlyBytes &&
                   early_messages_ <= kMaxEarlyMessages,
               "ranks have sent ", early_messages_, " messages of ", early_bytes_,
               " bytes, the last one rank ", from, ", that rank ", rank_,
               " has not asked for; it must receive them, or rank ", from,
               " must send less at once");
    Early& early = sender(from).early[{header.kind, header.tag}].emplace_back();
    early.header = header;
    early.payload.resize(header.payload_bytes);
    return {.buffer = early.payload, .done = &early.complete};
}

// Delivers early messages of one sort to the receives that wait for them.
void Inbox::deliver_early(int from, Sort sort) {
    Sender& other = sender(from);
    const auto found = other.early.find(sort);
    if (found == other.early.end()) return;
    std::deque<Early>& early = found->second;

    // Deliver in order: stop at a message that is still arriving.
    while (!early.empty() && early.front().complete && deliver(from, early.front())) {
        early_bytes_ -= early.front().payload.size();
        --early_messages_;
        early.pop_front();
    }
    if (early.empty()) other.early.erase(found);
}

// Copies an early message to the matching receive. Returns false if no receive matches.
bool Inbox::deliver(int from, const Early& early) {
    const Receive receive = take_receive(from, early.header);
    if (receive.done == nullptr) return false;
    if (receive.combine) {
        receive.combine.apply(receive.buffer.data(), early.payload.data(),
                              early.payload.size() / receive.combine.element_bytes);
    } else {
        std::ranges::copy(early.payload, receive.buffer.begin());
    }
    return *receive.done = true;
}

}  // namespace mini::dist
