#include "libmini/distributed/simulation/network.hpp"

#include <algorithm>
#include <utility>

namespace mini::dist {
namespace {

// The order of events of one moment: ports take what is sent, by the sender's rank, before
// anything arrives. So the seed, which orders tasks, does not change the times.
enum class Step : uint64_t { kSend, kLeft, kReachPort, kArrived };

uint64_t order_of(Step step, int rank) {
    return static_cast<uint64_t>(step) << 32 | static_cast<uint64_t>(rank);
}

}  // namespace

Network::Network(Scheduler& scheduler, const Links& links, int world_size,
                 bool has_payload)
    : scheduler_(scheduler),
      links_(links),
      world_size_(static_cast<size_t>(world_size)),
      has_payload_(has_payload),
      out_ports_(port_count(links, world_size)),
      in_ports_(port_count(links, world_size)),
      traffic_(world_size_),
      is_dead_(world_size_) {}

Network::Channel& Network::channel(int from, int to) {
    const size_t key = static_cast<size_t>(from) * world_size_ + static_cast<size_t>(to);
    const auto [place, is_new] = channels_.try_emplace(key);
    if (is_new) place->second.route = route(links_, from, to);
    return place->second;
}

SimulatedMessage& Network::new_message() {
    if (free_.empty()) {
        all_.push_back(std::make_unique<SimulatedMessage>());
        return *all_.back();
    }
    SimulatedMessage& message = *free_.back();
    free_.pop_back();
    return message;
}

void Network::send(int from, int to, std::span<const std::byte> bytes,
                   SimulatedMessage::Kind kind) {
    if (is_dead_[static_cast<size_t>(from)]) return;
    Traffic& traffic = traffic_[static_cast<size_t>(from)];
    ++traffic.messages;
    traffic.bytes += static_cast<int64_t>(bytes.size());
    Channel& way = channel(from, to);
    ++way.queued_messages;
    way.queued_bytes += bytes.size();

    SimulatedMessage& message = new_message();
    message.from = from;
    message.to = to;
    message.kind = kind;
    message.bytes = bytes.size();
    if (has_payload_) message.payload.assign(bytes.begin(), bytes.end());
    scheduler_.at(scheduler_.now(), order_of(Step::kSend, from),
                  [this, &message] { begin_to_send(message); });
}

void Network::begin_to_send(SimulatedMessage& message) {
    const Route& route = channel(message.from, message.to).route;
    const auto duration =
        time_to_send<VirtualTime>(message.bytes, route.bytes_per_second);
    const auto [begin, end] = out_ports_[route.out_port].add(scheduler_.now(), duration);

    scheduler_.at(end, order_of(Step::kLeft, message.from), [this, &message] {
        Channel& way = channel(message.from, message.to);
        --way.queued_messages;
        way.queued_bytes -= message.bytes;
        scheduler_.wake(message.from);
    });
    scheduler_.at(begin + route.delay, order_of(Step::kReachPort, message.from),
                  [this, &message] { begin_to_receive(message); });
}

void Network::begin_to_receive(SimulatedMessage& message) {
    Channel& way = channel(message.from, message.to);
    const auto duration =
        time_to_send<VirtualTime>(message.bytes, way.route.bytes_per_second);
    const VirtualTime end =
        in_ports_[way.route.in_port].add(scheduler_.now(), duration).end;
    scheduler_.at(end, order_of(Step::kArrived, message.to),
                  [this, &message] { arrive(message); });
}

void Network::arrive(SimulatedMessage& message) {
    Channel& way = channel(message.from, message.to);
    if (way.is_held) return way.held.push_back(&message);
    const bool is_end = message.kind != SimulatedMessage::Kind::kBytes;
    if (is_end) way.end = std::max(way.end, message.kind);
    if (is_end || way.loses_bytes)
        free_.push_back(&message);
    else
        way.arrived.push_back(&message);
    scheduler_.wake(message.to);
}

void Network::kill(int rank, bool loses_bytes) {
    for (int other = 0; other < static_cast<int>(world_size_); ++other) {
        if (other == rank) continue;
        channel(rank, other).loses_bytes = loses_bytes;
        send(rank, other, {}, SimulatedMessage::Kind::kClosed);
    }
    is_dead_[static_cast<size_t>(rank)] = true;
}

void Network::release(int from, int to) {
    Channel& way = channel(from, to);
    way.is_held = false;
    for (SimulatedMessage* const message : std::exchange(way.held, {})) arrive(*message);
}

const SimulatedMessage* Network::arrived(int from, int to) {
    const Channel& way = channel(from, to);
    return way.arrived.empty() ? nullptr : way.arrived.front();
}

void Network::pop(int from, int to) {
    Channel& way = channel(from, to);
    free_.push_back(way.arrived.front());
    way.arrived.pop_front();
}

}  // namespace mini::dist
