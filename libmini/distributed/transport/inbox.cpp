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

// The size of the first allocation for an early message.
constexpr size_t kFirstBytes = 64 << 10;

// Returns the buffer of an early message, with room for its next bytes. Grows the buffer
// to at most twice the bytes that have arrived (but at least to kFirstBytes), because a
// header may announce more bytes than its sender ever sends.
std::span<std::byte> grown(std::vector<std::byte>& payload, const MessageStream& stream) {
    const size_t wanted = std::max(kFirstBytes, 2 * stream.payload_received());
    if (stream.payload_received() == payload.size())
        payload.resize(std::min<size_t>(stream.header()->payload_bytes, wanted));
    return payload;
}

std::string size_fault(int from, size_t sent, int rank, size_t expected) {
    return concat("rank ", from, " sent ", sent, " bytes where rank ", rank, " expects ",
                  expected);
}

}  // namespace

Inbox::Inbox(int rank, int world_size, const CollectiveHistory& history)
    : rank_(rank), history_(history), senders_(static_cast<size_t>(world_size)) {}

void Inbox::expect(int from, CollectiveReceive& receive) {
    sender(from).collective = &receive;
    deliver_early(from, {MessageHeader::Kind::kCollective, 0});
}

void Inbox::expect(PointMessage& receive) {
    const bool any = receive.peer == kAnySource;
    (any ? any_source_ : sender(receive.peer).receives).push_back({&receive, posted_++});
    for (int from = 0; from < static_cast<int>(senders_.size()); ++from)
        if (from != rank_ && (any || from == receive.peer) && !receive.done)
            deliver_early(from, {MessageHeader::Kind::kPoint, receive.tag});
}

bool Inbox::is_expected(int from) const {
    const Sender& other = sender(from);
    const bool is_arriving = has_buffer(from) && other.buffer.early == nullptr;
    return is_arriving || other.collective != nullptr || !other.receives.empty() ||
           !any_source_.empty();
}

bool Inbox::choose_buffer(int from, const MessageHeader& header, bool keeps) {
    sender(from).buffer = take_receive(from, header);
    if (!has_buffer(from) && keeps) keep(from, header);
    return has_buffer(from);
}

// Removes the receive that matches the message, and returns its buffer; an empty Buffer if
// no receive matches.
Inbox::Buffer Inbox::take_receive(int from, const MessageHeader& header) {
    if (header.kind == MessageHeader::Kind::kCollective) {
        CollectiveReceive* const receive =
            std::exchange(sender(from).collective, nullptr);
        if (receive == nullptr) return {};
        check_size(from, header, receive->buffer.size());
        return {receive->buffer, receive->combine, &receive->done};
    }
    PointMessage* const receive = receive_for(from, header);
    if (receive == nullptr) return {};
    check_size(from, header, receive->data.size());
    match(*receive, from);
    return {receive->data, {}, &receive->done};
}

bool Inbox::pull(int from, MessageStream& stream) {
    Buffer& buffer = sender(from).buffer;
    if (buffer.early != nullptr) buffer.bytes = grown(buffer.early->payload, stream);
    const bool moved = stream.pull_payload(buffer.bytes, buffer.combine);
    if (stream.has_payload()) {
        stream.finish_message();
        finish(from);
    }
    return moved;
}

Inbox::Sort Inbox::sort_of(const MessageHeader& header) {
    const bool is_point = header.kind == MessageHeader::Kind::kPoint;
    return {header.kind, is_point ? header.tag : 0};
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
    throw MismatchedCollective(concat(
        "mismatched messages: ", size_fault(from, header.payload_bytes, rank_, expected),
        " (tag ", tag_name(header.tag), ", ", header.collective.count, " ",
        header.collective.dtype, " sent)"));
}

// Returns the point-to-point receive that matches the message and was posted first; null
// if none matches.
PointMessage* Inbox::receive_for(int from, const MessageHeader& header) {
    if (header.kind != MessageHeader::Kind::kPoint) return nullptr;
    Posted first;
    for (const auto* list : {&sender(from).receives, &any_source_}) {
        const auto found = std::ranges::find_if(*list, [&](const Posted& posted) {
            return posted.receive->tag == header.tag;
        });
        const bool is_first = found != list->end() &&
                              (first.receive == nullptr || found->number < first.number);
        if (is_first) first = *found;
    }
    return first.receive;
}

// Sets the receive's source and removes the receive from the lists: its message has begun
// to arrive.
void Inbox::match(PointMessage& receive, int from) {
    receive.source = from;
    const auto is_it = [&](const Posted& posted) { return posted.receive == &receive; };
    sender(from).receives.remove_if(is_it);
    any_source_.remove_if(is_it);
}

// Starts an early message: a message without a matching receive.
void Inbox::keep(int from, const MessageHeader& header) {
    early_bytes_ += header.payload_bytes;
    ++early_messages_;
    MINI_CHECK(header.payload_bytes <= kMaxEarlyBytes && early_bytes_ <= kMaxEarlyBytes &&
                   early_messages_ <= kMaxEarlyMessages,
               "ranks have sent ", early_messages_, " messages of ", early_bytes_,
               " bytes, the last one rank ", from, ", that rank ", rank_,
               " has not asked for; it must receive them, or rank ", from,
               " must send less at once");
    Sender& other = sender(from);
    Early& early = other.early[sort_of(header)].emplace_back();
    early.header = header;
    other.buffer = {{}, {}, &early.complete, &early};
}

// Completes the message from rank `from` after its payload has been read.
void Inbox::finish(int from) {
    Sender& other = sender(from);
    *other.buffer.done = true;
    const Early* const early = other.buffer.early;
    other.buffer = {};
    if (early != nullptr) deliver_early(from, sort_of(early->header));
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
    const Buffer buffer = take_receive(from, early.header);
    if (buffer.done == nullptr) return false;
    if (buffer.combine) {
        buffer.combine.apply(buffer.bytes.data(), early.payload.data(),
                             early.payload.size() / buffer.combine.element_bytes);
    } else {
        std::ranges::copy(early.payload, buffer.bytes.begin());
    }
    return *buffer.done = true;
}

}  // namespace mini::dist
