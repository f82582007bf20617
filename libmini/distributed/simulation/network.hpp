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

#include "libmini/distributed/simulation/links.hpp"
#include "libmini/distributed/simulation/scheduler.hpp"

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
    size_t bytes = 0;
    std::vector<std::byte> payload;  // empty when the network carries sizes alone
    size_t* left = nullptr;          // the sender's count of messages that have left
};

/// Carries messages between ranks, in virtual time.
class Network {
  public:
    /// The ranks are tasks 0 .. world_size - 1 of `scheduler`. Both references outlive this.
    /// Without `has_payload` messages are sizes alone, so that ranks may share one buffer.
    Network(Scheduler& scheduler, const Links& links, int world_size, bool has_payload);

    /// Starts a message with a copy of `bytes`. When it has left the sender's port, adds one to
    /// `left`, which lives until then, and wakes the sender; when it has arrived, wakes the
    /// receiver.
    void send(int from, int to, std::span<const std::byte> bytes, size_t& left);

    /// The message from rank `from` that has arrived at rank `to` first; null for none.
    const SimulatedMessage* arrived(int from, int to);

    /// Removes that message. REQUIRES: arrived() is not null.
    void pop(int from, int to);

    /// What `rank` has sent so far.
    const Traffic& traffic(int rank) const { return traffic_[static_cast<size_t>(rank)]; }

    /// How many messages have not been removed.
    size_t messages_left() const { return all_.size() - free_.size(); }

    bool has_payload() const { return has_payload_; }

  private:
    // From one rank to another; made when it is first used.
    struct Channel {
        Route route;
        std::deque<SimulatedMessage*> arrived;
    };

    Channel& channel(int from, int to);
    SimulatedMessage& new_message();
    void begin_to_send(SimulatedMessage& message);
    void begin_to_receive(SimulatedMessage& message);

    Scheduler& scheduler_;
    const Links& links_;
    const size_t world_size_;
    const bool has_payload_;
    std::vector<VirtualTime> out_free_, in_free_;  // by port: when its queue is empty
    std::unordered_map<size_t, Channel> channels_;
    std::vector<Traffic> traffic_;  // by rank
    std::vector<std::unique_ptr<SimulatedMessage>> all_;
    std::vector<SimulatedMessage*> free_;  // for new messages
};

}  // namespace mini::dist
