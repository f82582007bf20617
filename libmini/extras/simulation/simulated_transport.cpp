#include "libmini/extras/simulation/simulated_transport.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"

namespace mini::dist {

OneWay& Ways::between(int from, int to) {
    OneWay*& way = ways_[static_cast<size_t>(from)][to];
    if (way == nullptr) way = &network_.open(from, to);
    return *way;
}

SimulatedTransport::SimulatedTransport(Scheduler& scheduler, Ways& ways, int rank,
                                       int world_size)
    : scheduler_(scheduler),
      ways_(ways),
      network_(ways.network()),
      rank_(rank),
      world_size_(world_size) {}

OneWay& SimulatedTransport::way_to(int peer) {
    check_peer(peer);
    return ways_.between(rank_, peer);
}

OneWay& SimulatedTransport::way_from(int peer) {
    check_peer(peer);
    return ways_.between(peer, rank_);
}

void SimulatedTransport::check_peer(int peer) const {
    MINI_CHECK(peer >= 0 && peer < world_size_ && peer != rank_, "rank ", rank_, " of ",
               world_size_, " cannot send to, or receive from, rank ", peer);
}

void SimulatedTransport::start_send(int to, std::span<const std::byte> out) {
    network_.send(way_to(to), out);
}

void SimulatedTransport::finish_send(int to) {
    sends_to_ = to;
    while (way_to(to).queued_messages() > 0) scheduler_.wait();
    sends_to_ = kNone;
}

void SimulatedTransport::send_recv(int to, std::span<const std::byte> out, int from,
                                   std::span<std::byte> in, const Combine& combine) {
    start_send(to, out);
    recv(from, in, combine);
    finish_send(to);
}

void SimulatedTransport::send(int to, std::span<const std::byte> out) {
    start_send(to, out);
    finish_send(to);
}

void SimulatedTransport::recv(int from, std::span<std::byte> in, const Combine& combine) {
    OneWay& way = way_from(from);
    receives_from_ = from;
    while (way.arrived() == nullptr) scheduler_.wait();
    receives_from_ = kNone;

    const SimulatedMessage& message = *way.arrived();
    MINI_CHECK(message.bytes == in.size(), "rank ", from, " sent ", message.bytes,
               " bytes where rank ", rank_, " expects ", in.size());
    if (network_.has_payload()) {
        if (combine)
            combine.apply(in.data(), message.payload.data(),
                          in.size() / combine.element_bytes);
        else
            std::ranges::copy(message.payload, in.begin());
    }
    network_.pop(way);
}

void SimulatedTransport::sleep_until(VirtualTime when) {
    if (when > scheduler_.now()) scheduler_.sleep_for(when - scheduler_.now());
}

std::string SimulatedTransport::waits_for() const {
    if (receives_from_ != kNone)
        return concat("rank ", rank_, " receives from rank ", receives_from_);
    return concat("rank ", rank_, " sends to rank ", sends_to_);
}

}  // namespace mini::dist
