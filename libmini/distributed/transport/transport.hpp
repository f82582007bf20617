// Transport: messages from one rank to another. All collectives are built on it.
//
//     collectives/    ring_all_reduce   tree_broadcast   ring_all_gather   barrier ...
//                     -------------------------- Transport --------------------------
//                     MeshTransport: a channel to every other rank
//
// Messages between two ranks arrive in the order in which they were sent. A message of a
// collective names its collective, and is never delivered to another collective.
// Point-to-point messages are independent of collectives: each has a tag and waits for a
// receive with the same tag.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/combine.hpp"

namespace mini::dist {

/// A point-to-point message in flight. The transport uses this object from post() until
/// the message is done.
struct PointMessage {
    /// Whether this rank sends or receives.
    enum class Direction : uint8_t { kSend, kRecv };

    Direction direction = Direction::kSend;
    int peer = kAnySource;  // kRecv: kAnySource receives the first message that arrives
    uint64_t tag = 0;
    DType dtype = DType::kFloat32;
    std::span<std::byte> data;  // a send does not modify it
    Deadline deadline;
    std::chrono::milliseconds timeout{};

    bool done = false;
    int source = kAnySource;  // kRecv: the sender

    /// Called on the transport's thread when the message is done and the transport no
    /// longer uses it.
    std::function<void()> finished;
};

/// Returns a description, such as "send to rank 1 (tag 7, 100 float32)" or "recv from any
/// rank (...)".
std::string describe(const PointMessage& message);

/// Sets `done` and calls `finished`, which may hold the last reference to the message.
void finish(PointMessage& message);

// The blocking functions of Transport and GroupTransport throw PeerLost naming the lost
// rank, Timeout naming the silent rank, or MismatchedCollective naming both ranks. After
// an exception the transport cannot be used.

/// The interface for collective algorithms: sends and receives messages of the current
/// collective.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// Sends `out` to rank `to` while receiving `in` from rank `from`; blocks until both
    /// are done. Ranks that call send_recv in a ring do not deadlock, because each of
    /// them sends and receives at the same time. With `combine`, combines the incoming
    /// elements with the elements in `in`. REQUIRES: `in` has exactly the size of the
    /// message; `to` and `from` are not this rank; `out` and `in` do not overlap.
    virtual void send_recv(int to, std::span<const std::byte> out, int from,
                           std::span<std::byte> in, const Combine& combine = {}) = 0;

    /// Send or receive one message, like one half of send_recv. Both may block until the
    /// other rank calls the matching function.
    virtual void send(int to, std::span<const std::byte> out) = 0;
    virtual void recv(int from, std::span<std::byte> in, const Combine& combine = {}) = 0;
};

/// The interface for process groups: a Transport that also begins collectives, posts
/// point-to-point messages, wakes a waiting call, and leaves the group.
class GroupTransport : public Transport {
  public:
    /// Starts a collective with its timeout. All further send and recv calls belong to
    /// this collective.
    virtual void begin(const Collective& collective,
                       std::chrono::milliseconds timeout) = 0;

    /// Starts a point-to-point message; never blocks. The message makes progress whenever
    /// this transport waits. REQUIRES: `message` lives until it is done.
    virtual void post(PointMessage& message) = 0;

    /// Blocks until one of the posted messages is done or wake() is called.
    virtual void progress() = 0;

    /// Makes progress on all messages; never blocks.
    virtual void poll() {}

    /// Wakes a waiting call. The woken call runs the function of set_on_wake() on its own
    /// thread; then progress() returns, and all other calls continue to wait.
    /// Thread-safe.
    virtual void wake() noexcept = 0;

    /// Sets the function that a waiting call runs after wake().
    virtual void set_on_wake(std::function<void()> on_wake) = 0;

    /// Sets the text at the end of this transport's warnings: it translates the ranks of
    /// a subgroup.
    virtual void set_note(const std::string& /*note*/) {}

    /// Returns whether this rank and rank `other` can map memory of each other.
    virtual bool shares_memory_with(int /*other*/) const { return false; }

    /// Adds bytes that this rank has read and written there to bytes_sent().
    virtual void count_sent(size_t /*bytes*/) {}

    /// Returns the payload bytes sent since the start, without headers.
    virtual uint64_t bytes_sent() const = 0;

    /// Returns the number of messages sent since the start.
    virtual uint64_t messages_sent() const = 0;

    /// Leaves the group and reports `reason` to the other ranks; never blocks for long.
    /// Other ranks' waits for this rank throw. REQUIRES: no send or recv is running.
    virtual void leave(const Failure& reason) noexcept = 0;

    /// Makes the running call and all later calls throw immediately. Thread-safe.
    virtual void interrupt() noexcept = 0;
};

}  // namespace mini::dist
