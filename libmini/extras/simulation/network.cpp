#include "libmini/extras/simulation/network.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mini::dist {
namespace {

using Kind = SimulatedMessage::Kind;

// The order of events at the same virtual time: messages enter the senders' ports first,
// by the sender's index, and arrive last. So the times do not depend on the order of
// tasks, which the seed decides.
enum class Step : uint64_t { kSend, kLeft, kReachPort, kArrived };

uint64_t order_of(Step step, int process) {
    return static_cast<uint64_t>(step) << 32 | static_cast<uint64_t>(process);
}

// The delay between two sockets of one process.
constexpr VirtualTime kInsideProcess = std::chrono::microseconds(1);

}  // namespace

Network::Network(Scheduler& scheduler, const Links& links, int process_count,
                 bool has_payload)
    : scheduler_(scheduler),
      links_(links),
      has_payload_(has_payload),
      out_ports_(port_count(links, process_count)),
      in_ports_(port_count(links, process_count)),
      shared_ways_(index(process_count)),
      traffic_(index(process_count)),
      is_dead_(index(process_count)) {}

OneWay& Network::open(int from, int to) {
    OneWay& way = ways_.emplace_back();
    way.from_ = from;
    way.to_ = to;
    if (from != to) way.route_ = route(links_, from, to);
    return way;
}

OneWay& Network::between(int from, int to) {
    OneWay*& way = shared_ways_[index(from)][to];
    if (way == nullptr) way = &open(from, to);
    return *way;
}

VirtualTime Network::delay(int from, int to) const {
    return from == to ? kInsideProcess : route(links_, from, to).delay;
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

void Network::send(OneWay& way, std::span<const std::byte> bytes, Kind kind) {
    if (is_dead(way.from_)) return;
    Traffic& traffic = traffic_[index(way.from_)];
    ++traffic.messages;
    traffic.bytes += static_cast<int64_t>(bytes.size());
    ++way.queued_messages_;
    way.queued_bytes_ += bytes.size();

    SimulatedMessage& message = new_message();
    message.way = &way;
    message.kind = kind;
    message.bytes = bytes.size();
    if (has_payload_) message.payload.assign(bytes.begin(), bytes.end());
    scheduler_.at(scheduler_.now(), order_of(Step::kSend, way.from_),
                  [this, &message] { begin_to_send(message); });
}

void Network::begin_to_send(SimulatedMessage& message) {
    const OneWay& way = *message.way;
    if (way.from_ == way.to_) {  // uses no port
        leave(message);
        scheduler_.at(scheduler_.now() + kInsideProcess,
                      order_of(Step::kArrived, way.to_),
                      [this, &message] { arrive(message); });
        return;
    }
    const auto duration =
        time_to_send<VirtualTime>(message.bytes, way.route_.bytes_per_second);
    const auto [begin, end] =
        out_ports_[way.route_.out_port].add(scheduler_.now(), duration);

    scheduler_.at(end, order_of(Step::kLeft, way.from_),
                  [this, &message] { leave(message); });
    scheduler_.at(begin + way.route_.delay, order_of(Step::kReachPort, way.from_),
                  [this, &message] { begin_to_receive(message); });
}

void Network::leave(SimulatedMessage& message) {
    OneWay& way = *message.way;
    --way.queued_messages_;
    way.queued_bytes_ -= message.bytes;
    scheduler_.wake_process(way.from_);
}

void Network::begin_to_receive(SimulatedMessage& message) {
    const OneWay& way = *message.way;
    const auto duration =
        time_to_send<VirtualTime>(message.bytes, way.route_.bytes_per_second);
    const VirtualTime end =
        in_ports_[way.route_.in_port].add(scheduler_.now(), duration).end;
    scheduler_.at(end, order_of(Step::kArrived, way.to_),
                  [this, &message] { arrive(message); });
}

void Network::arrive(SimulatedMessage& message) {
    OneWay& way = *message.way;
    const auto held = held_.find({way.from_, way.to_});
    if (held != held_.end()) return held->second.push_back(&message);
    const bool is_end = message.kind != Kind::kBytes;
    if (is_end) way.end_ = std::max(way.end_, message.kind);
    if (is_end || lose(message))
        free_.push_back(&message);
    else
        way.arrived_.push_back(&message);
    scheduler_.wake_process(way.to_);
}

// Returns whether the whole message is lost. If half of it is lost, shortens the message.
bool Network::lose(SimulatedMessage& message) {
    OneWay& way = *message.way;
    if (way.loss_ != Loss::kHalf) return way.loss_ == Loss::kAll;
    way.loss_ = Loss::kAll;
    message.bytes /= 2;
    if (has_payload_) message.payload.resize(message.bytes);
    return message.bytes == 0;
}

void Network::kill(int process, Loss loss) {
    is_dead_[index(process)] = true;
    for (OneWay& way : ways_)
        if (way.from_ == process) way.loss_ = loss;
}

void Network::release(int from, int to) {
    auto held = held_.extract({from, to});
    if (held.empty()) return;
    for (SimulatedMessage* const message : held.mapped()) arrive(*message);
}

void Network::cut(OneWay& way) {
    way.loss_ = Loss::kAll;
    way.end_ = Kind::kClosed;
    scheduler_.wake_process(way.from_);
    scheduler_.wake_process(way.to_);
}

void Network::pop(OneWay& way) {
    free_.push_back(way.arrived_.front());
    way.arrived_.pop_front();
}

}  // namespace mini::dist
