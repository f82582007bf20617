// The network of a simulated cluster: messages in flight, and the ports at which they
// queue.
//
//     sender       send() | queues | sending         | left
//     receiver                     | delay  | queues | receiving       | arrived
//
// Sending and receiving take bytes / rate each, and overlap: a message reaches the
// receiver's port one delay after its first byte has left the sender's port. Messages of
// one direction arrive in the order in which they were sent, and stay at the receiver
// until they are removed, as in a socket's buffer.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/scheduler.hpp"

namespace mini::dist {

/// The messages and bytes that a process has sent.
struct Traffic {
    int64_t messages = 0;
    int64_t bytes = 0;

    bool operator==(const Traffic&) const = default;
};

class OneWay;

/// A message in flight, or arrived and not yet removed.
struct SimulatedMessage {
    /// kBytes: data. kEnd: the sender sends no more. kClosed: the sender neither sends
    /// nor receives any more.
    enum class Kind : uint8_t { kBytes, kEnd, kClosed };

    OneWay* way = nullptr;
    Kind kind = Kind::kBytes;
    size_t bytes = 0;
    std::vector<std::byte> payload;  // empty if the network carries only sizes
};

/// How much of a killed process's data in flight is lost, in each direction.
enum class Loss : uint8_t {
    kNone,  // all messages arrive
    kHalf,  // half of the first message arrives
    kAll,   // no message arrives
};

/// One direction of a connection between two processes.
class OneWay {
  public:
    int from() const { return from_; }
    int to() const { return to_; }

    /// Returns the number of messages that have not left the sender's port.
    size_t queued_messages() const { return queued_messages_; }
    /// Returns the number of bytes that have not left the sender's port.
    size_t queued_bytes() const { return queued_bytes_; }

    /// Returns the first message that has arrived and was not removed, or null.
    const SimulatedMessage* arrived() const {
        return arrived_.empty() ? nullptr : arrived_.front();
    }

    /// Returns kEnd or kClosed if it has arrived, else kBytes.
    SimulatedMessage::Kind end() const { return end_; }

  private:
    friend class Network;

    int from_ = 0, to_ = 0;
    Route route_;
    size_t queued_messages_ = 0, queued_bytes_ = 0;
    std::deque<SimulatedMessage*> arrived_;
    SimulatedMessage::Kind end_ = SimulatedMessage::Kind::kBytes;
    Loss loss_ = Loss::kNone;
};

/// Carries messages between processes, in virtual time.
class Network {
  public:
    /// Without `has_payload`, messages carry only their sizes, so that processes may
    /// share one buffer. REQUIRES: both references outlive this object.
    Network(Scheduler& scheduler, const Links& links, int process_count,
            bool has_payload);

    /// Returns a new direction from process `from` to process `to`; the network owns it.
    OneWay& open(int from, int to);

    /// Returns the one direction from process `from` to process `to` that all callers of
    /// this function share. REQUIRES: they are different processes.
    OneWay& between(int from, int to);

    /// Sends a copy of `bytes`; does not block. Wakes the sender's process when the
    /// message has left the sender's port, and the receiver's process when the message
    /// has arrived.
    void send(OneWay& way, std::span<const std::byte> bytes,
              SimulatedMessage::Kind kind = SimulatedMessage::Kind::kBytes);

    /// Removes the first message that has arrived. REQUIRES: arrived() is not null.
    void pop(OneWay& way);

    /// Returns the messages and bytes that `process` has sent so far.
    const Traffic& traffic(int process) const { return traffic_[index(process)]; }

    /// Returns the number of messages that are in flight or not yet removed.
    size_t messages_left() const { return all_.size() - free_.size(); }

    bool has_payload() const { return has_payload_; }

    /// Returns the time from sending a message without bytes until it arrives.
    VirtualTime delay(int from, int to) const;

    // Faults.

    /// Drops all messages that `process` sends from now on; `loss` decides how much of
    /// its data in flight is lost.
    void kill(int process, Loss loss);
    bool is_dead(int process) const { return is_dead_[index(process)]; }

    /// Holds messages from process `from` to process `to` at the receiver's port until
    /// release().
    void hold(int from, int to) { held_.try_emplace({from, to}); }
    void release(int from, int to);
    bool is_held(int from, int to) const { return held_.contains({from, to}); }

    /// Breaks one direction: messages in flight are lost, and the receiver sees a closed
    /// stream. Wakes both processes.
    void cut(OneWay& way);

  private:
    static size_t index(int process) { return static_cast<size_t>(process); }
    SimulatedMessage& new_message();
    void begin_to_send(SimulatedMessage& message);
    void begin_to_receive(SimulatedMessage& message);
    void leave(SimulatedMessage& message);
    void arrive(SimulatedMessage& message);
    bool lose(SimulatedMessage& message);

    Scheduler& scheduler_;
    const Links& links_;
    const bool has_payload_;
    std::vector<LinkPort<VirtualTime>> out_ports_, in_ports_;
    std::deque<OneWay> ways_;

    // By sender, then by receiver: in a single hash table of pairs, all pairs of
    // neighbours in a ring could share one bucket.
    std::vector<std::unordered_map<int, OneWay*>> shared_ways_;
    std::vector<Traffic> traffic_;                                       // by process
    std::vector<char> is_dead_;                                          // by process
    std::map<std::pair<int, int>, std::deque<SimulatedMessage*>> held_;  // by processes
    std::vector<std::unique_ptr<SimulatedMessage>> all_;
    std::vector<SimulatedMessage*> free_;  // to be reused
};

}  // namespace mini::dist
