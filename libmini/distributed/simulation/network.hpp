// The network of a simulated cluster: messages on their way, and the ports that they queue at.
//
//     sender       send() | queues | sending         | left
//     receiver                     | delay  | queues | receiving       | arrived
//
// Sending and receiving take bytes / rate each. They overlap as far as the delay and the queue
// at the receiver's port let them. Messages from one rank to another arrive in the order in
// which they were sent, and wait there until they are taken, as in the buffers of a socket.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "libmini/distributed/simulation/scheduler.hpp"
#include "libmini/distributed/transport/link_port.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::dist {

/// What a rank has sent.
struct Traffic {
    int64_t messages = 0;
    int64_t bytes = 0;

    bool operator==(const Traffic&) const = default;
};

/// A message on its way, or waiting at its receiver.
struct SimulatedMessage {
    int from = 0, to = 0;
    /// Bytes, or the end of a stream of bytes: the sender sends no more (kEnd), or does not
    /// receive any more either (kClosed).
    enum class Kind : uint8_t { kBytes, kEnd, kClosed };

    Kind kind = Kind::kBytes;
    size_t bytes = 0;
    std::vector<std::byte> payload;  // empty when the network carries sizes alone
};

/// Carries messages between ranks, in virtual time.
class Network {
  public:
    /// The ranks are tasks 0 .. world_size - 1 of `scheduler`. Both references outlive this.
    /// Without `has_payload` messages are sizes alone, so that ranks may share one buffer.
    Network(Scheduler& scheduler, const Links& links, int world_size, bool has_payload);

    /// Starts a message with a copy of `bytes`. Wakes the sender when it has left the sender's
    /// port, and the receiver when it has arrived.
    void send(int from, int to, std::span<const std::byte> bytes,
              SimulatedMessage::Kind kind = SimulatedMessage::Kind::kBytes);

    /// How many messages, and bytes, from rank `from` to rank `to` have not left the port.
    size_t queued_messages(int from, int to) { return channel(from, to).queued_messages; }
    size_t queued_bytes(int from, int to) { return channel(from, to).queued_bytes; }

    /// The message from rank `from` that has arrived at rank `to` first; null for none.
    const SimulatedMessage* arrived(int from, int to);

    /// Returns the end of the stream from rank `from` to rank `to`, if it has arrived; else
    /// kBytes.
    SimulatedMessage::Kind end_of(int from, int to) { return channel(from, to).end; }

    /// Removes that message. REQUIRES: arrived() is not null.
    void pop(int from, int to);

    /// What `rank` has sent so far.
    const Traffic& traffic(int rank) const { return traffic_[static_cast<size_t>(rank)]; }

    /// How many messages have not been removed.
    size_t messages_left() const { return all_.size() - free_.size(); }

    bool has_payload() const { return has_payload_; }

    // Faults.

    /// The process of `rank` dies: nothing that it sends from now on is carried, and its
    /// connections close. With `loses_bytes`, bytes on their way to other ranks are lost.
    void kill(int rank, bool loses_bytes);

    /// Messages from `from` to `to` wait at the receiver's port until release().
    void hold(int from, int to) { channel(from, to).is_held = true; }
    void release(int from, int to);

  private:
    // From one rank to another; made when it is first used.
    struct Channel {
        Route route;
        size_t queued_messages = 0, queued_bytes = 0;  // at the sender's port
        std::deque<SimulatedMessage*> arrived, held;
        SimulatedMessage::Kind end = SimulatedMessage::Kind::kBytes;
        bool is_held = false;
        bool loses_bytes = false;
    };

    Channel& channel(int from, int to);
    SimulatedMessage& new_message();
    void begin_to_send(SimulatedMessage& message);
    void begin_to_receive(SimulatedMessage& message);
    void arrive(SimulatedMessage& message);

    Scheduler& scheduler_;
    const Links& links_;
    const size_t world_size_;
    const bool has_payload_;
    std::vector<LinkPort<VirtualTime>> out_ports_, in_ports_;
    std::unordered_map<size_t, Channel> channels_;
    std::vector<Traffic> traffic_;  // by rank
    std::vector<char> is_dead_;     // by rank
    std::vector<std::unique_ptr<SimulatedMessage>> all_;
    std::vector<SimulatedMessage*> free_;  // for new messages
};

}  // namespace mini::dist
