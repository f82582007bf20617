// What a mesh transport does with a message that comes in (mesh_transport.hpp): where it
// goes, or where it waits until somebody asks for it.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

// What may lie here unasked for, before a rank that sends without end is stopped.
constexpr size_t kMaxEarlyBytes = size_t{1} << 30;
constexpr size_t kMaxEarlyMessages = size_t{1} << 18;

std::string sent_instead(int from, size_t sent, int rank, size_t expected) {
    return concat("rank ", from, " sent ", sent, " bytes where rank ", rank, " expects ",
                  expected);
}

}  // namespace

// Looks at what a message is before a byte of it reaches anybody's buffer; whether there
// is a place for it.
bool MeshTransport::choose_destination(int from) {
    Peer& other = peer(from);
    const MessageHeader& header = *other.stream.header();
    if (header.kind == MessageHeader::Kind::kFailure) {
        if (is_asked_for(from)) peer_closed(from);
        return false;
    }
    if (header.kind != MessageHeader::Kind::kPoint)
        history_.check_number(rank_, from, header.collective);
    if (header.kind == MessageHeader::Kind::kWaiting) {
        other.awaits = header.rank;
        other.awaits_in = header.collective;
        other.stream.finish_message();
        return false;
    }

    if (header.kind == MessageHeader::Kind::kCollective && other.wanted != nullptr) {
        check_arrival(from, header, other.wanted->place.size());
        other.destination = {other.wanted->place, other.wanted->combine,
                             &other.wanted->done, nullptr};
        return true;
    }
    if (PointMessage* const receiver = receiver_of(from, header)) {
        check_arrival(from, header, receiver->data.size());
        other.destination = {receiver->data, {}, &receiver->done, nullptr};
        complete(*receiver, from);
        return true;
    }
    return is_asked_for(from) && put_aside(from, header);  // for a message behind it
}

MeshTransport::Sort MeshTransport::sort_of(const MessageHeader& header) {
    const bool is_point = header.kind == MessageHeader::Kind::kPoint;
    return {header.kind, is_point ? header.detail : 0};
}

// Makes a place for a message that is not asked for. True.
bool MeshTransport::put_aside(int from, const MessageHeader& header) {
    early_bytes_ += header.payload_bytes;
    ++early_messages_;
    MINI_CHECK(header.payload_bytes <= kMaxEarlyBytes && early_bytes_ <= kMaxEarlyBytes &&
                   early_messages_ <= kMaxEarlyMessages,
               "ranks have sent ", early_messages_, " messages of ", early_bytes_,
               " bytes, the last one rank ", from, ", that rank ", rank_,
               " has not asked for; it must receive them, or rank ", from,
               " must send less at once");
    Peer& other = peer(from);
    Early& early = other.early[sort_of(header)].emplace_back();
    early.header = header;
    other.destination = {{}, {}, &early.complete, &early};
    return true;
}

void MeshTransport::check_arrival(int from, const MessageHeader& header,
                                  size_t expected) const {
    if (header.kind == MessageHeader::Kind::kCollective) {
        history_.check_same(rank_, from, header.collective);
        MINI_CHECK(header.payload_bytes == expected,
                   sent_instead(from, header.payload_bytes, rank_, expected), " in ",
                   activity());
        return;
    }
    if (header.payload_bytes == expected) return;
    throw MismatchedCollective(
        concat("mismatched messages: ",
               sent_instead(from, header.payload_bytes, rank_, expected), " (tag ",
               header.detail, ", ", header.collective.count, " ", header.collective.dtype,
               " sent)"));
}

// The first receive that asks for such a message; null for none.
PointMessage* MeshTransport::receiver_of(int from, const MessageHeader& header) {
    if (header.kind != MessageHeader::Kind::kPoint) return nullptr;
    for (const auto* list : {&peer(from).receives, &any_source_})
        for (PointMessage* const receive : *list)
            if (receive->tag == header.detail) return receive;
    return nullptr;
}

// Takes a receive off the lists: its message is here, or about to be.
void MeshTransport::complete(PointMessage& message, int source) {
    message.source = source;
    peer(source).receives.remove(&message);
    any_source_.remove(&message);
}

void MeshTransport::finish_arrival(int from) {
    Peer& other = peer(from);
    other.stream.finish_message();
    *other.destination.done = true;
    const Early* const early = other.destination.early;
    const bool was_wanted =
        other.wanted != nullptr && other.destination.done == &other.wanted->done;
    other.destination = {};
    if (was_wanted) other.wanted = nullptr;
    if (early != nullptr) deliver_early(from, sort_of(early->header));
}

// Gives messages of one sort that were put aside to the receives that wait for them.
void MeshTransport::deliver_early(int from, Sort sort) {
    Peer& other = peer(from);
    const auto place = other.early.find(sort);
    if (place == other.early.end()) return;
    std::deque<Early>& early = place->second;

    // In order: none may overtake one that is still coming in.
    while (!early.empty() && early.front().complete && deliver(from, early.front())) {
        early_bytes_ -= early.front().payload.size();
        --early_messages_;
        early.pop_front();
    }
    if (early.empty()) other.early.erase(place);
}

bool MeshTransport::deliver(int from, Early& early) {
    Peer& other = peer(from);
    if (early.header.kind == MessageHeader::Kind::kCollective) {
        Wanted* const wanted = std::exchange(other.wanted, nullptr);
        if (wanted == nullptr) return false;
        check_arrival(from, early.header, wanted->place.size());
        if (wanted->combine) {
            wanted->combine.apply(wanted->place.data(), early.payload.data(),
                                  early.payload.size() / wanted->combine.element_bytes);
        } else {
            std::ranges::copy(early.payload, wanted->place.begin());
        }
        return wanted->done = true;
    }
    PointMessage* const receiver = receiver_of(from, early.header);
    if (receiver == nullptr) return false;
    check_arrival(from, early.header, receiver->data.size());
    std::ranges::copy(early.payload, receiver->data.begin());
    complete(*receiver, from);
    return receiver->done = true;
}

}  // namespace mini::dist
