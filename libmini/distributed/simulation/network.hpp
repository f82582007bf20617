// The network of a simulated cluster: messages on their way, and the ports that they queue at.
//
//     sender       send() | queues | sending         | left
//     receiver                     | delay  | queues | receiving       | arrived
//
// Sending and receiving take bytes / rate each. They overlap as far as the delay and the queue
// at the receiver's port let them. Messages of one way arrive in the order in which they were
// sent, and wait there until they are taken, as in the buffers of a socket.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libmini/distributed/simulation/scheduler.hpp"
#include "libmini/distributed/transport/link_port.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::dist {

/// What a process has sent.
struct Traffic {
    int64_t messages = 0;
    int64_t bytes = 0;

    bool operator==(const Traffic&) const = default;
};

class OneWay;

/// A message on its way, or waiting at its receiver.
struct SimulatedMessage {
    /// Bytes, or the end of a stream of bytes: the sender sends no more (kEnd), or does not
    /// receive any more either (kClosed).
    enum class Kind : uint8_t { kBytes, kEnd, kClosed };

    OneWay* way = nullptr;
    Kind kind = Kind::kBytes;
    size_t bytes = 0;
    std::vector<std::byte> payload;  // empty when the network carries sizes alone
};

/// What becomes of the bytes that a process had sent when it died, and that were on their way.
enum class Loss : uint8_t {
    kNone,  // they arrive
    kHalf,  // half of the first message arrives
    kAll,
};

/// One direction of a connection between two processes.
class OneWay {
  public:
    int from() const { return from_; }
    int to() const { return to_; }

    /// How many messages, and bytes, have not left the sender's port.
    size_t queued_messages() const { return queued_messages_; }
    size_t queued_bytes() const { return queued_bytes_; }

    /// The message that has arrived first; null for none.
    const SimulatedMessage* arrived() const {
        return arrived_.empty() ? nullptr : arrived_.front();
    }

    /// The end of the stream, if it has arrived; else kBytes.
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
    /// Both references outlive this. Without `has_payload` messages are sizes alone, so that
    /// processes may share one buffer.
    Network(Scheduler& scheduler, const Links& links, int process_count,
            bool has_payload);

    /// Returns a new way. It lives as long as the network.
    OneWay& open(int from, int to);

    /// Starts a message with a copy of `bytes`. Wakes the sender when it has left the sender's
    /// port, and the receiver when it has arrived.
    void send(OneWay& way, std::span<const std::byte> bytes,
              SimulatedMessage::Kind kind = SimulatedMessage::Kind::kBytes);

    /// Removes the message that has arrived first. REQUIRES: there is one.
    void pop(OneWay& way);

    /// What `process` has sent so far.
    const Traffic& traffic(int process) const { return traffic_[index(process)]; }

    /// How many messages have not been removed.
    size_t messages_left() const { return all_.size() - free_.size(); }

    bool has_payload() const { return has_payload_; }

    /// How long a message without bytes takes.
    VirtualTime delay(int from, int to) const;

    // Faults.

    /// Nothing that `process` sends from now on is carried.
    void kill(int process, Loss loss);
    bool is_dead(int process) const { return is_dead_[index(process)]; }

    /// Messages from one process to another wait at the receiver's port until release().
    void hold(int from, int to) { held_.try_emplace({from, to}); }
    void release(int from, int to);
    bool is_held(int from, int to) const { return held_.contains({from, to}); }

    /// The connection breaks: nothing that is on this way arrives, and both sides see it.
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
    std::vector<Traffic> traffic_;                                       // by process
    std::vector<char> is_dead_;                                          // by process
    std::map<std::pair<int, int>, std::deque<SimulatedMessage*>> held_;  // by processes
    std::vector<std::unique_ptr<SimulatedMessage>> all_;
    std::vector<SimulatedMessage*> free_;  // for new messages
};

}  // namespace mini::dist
