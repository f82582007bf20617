// Transport: messages from one rank to another, all that the collectives stand on.
//
//     collectives/    ring_all_reduce   tree_broadcast   ring_all_gather   barrier ...
//                     -------------------------- Transport --------------------------
//                     MeshTransport: a channel to every other rank
//
// Messages between two ranks arrive in the order in which they were sent. Each carries
// the collective it belongs to; one that belongs to another is never delivered. Messages
// from point to point go beside them: they carry a tag and wait for a receive that asks
// for it.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "libmini/distributed/net/deadline.hpp"
#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/combine.hpp"

namespace mini::dist {

/// Instead of a rank to receive from: the first rank that sends.
constexpr int kAnySource = -1;

/// A message from point to point under way: handed to the transport and back when done.
struct PointMessage {
    /// Whether this rank sends or receives.
    enum class Direction : uint8_t { kSend, kRecv };

    Direction direction = Direction::kSend;
    int peer = kAnySource;  // kRecv: kAnySource takes the first that comes
    uint64_t tag = 0;
    DType dtype = DType::kFloat32;
    std::span<std::byte> data;  // a send only reads it
    Deadline deadline;
    std::chrono::milliseconds timeout{};

    bool done = false;
    int source = kAnySource;  // kRecv: the sender

    /// Called on the transport's thread when it is done and the transport has let it go.
    std::function<void()> finished;
};

/// "send to rank 1 (tag 7, 100 float32)", "recv from any rank (...)".
std::string describe(const PointMessage& message);

/// Ends a message that is done: calls `finished`, which may hold the last reference to
/// the message.
void finish(PointMessage& message);

// Both classes' blocking functions throw PeerLost naming the rank that is gone, Timeout
// naming the silent one, MismatchedCollective naming both. After that the transport is of
// no further use.

/// What an algorithm needs: messages of the collective that has begun.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// Sends `out` to rank `to` while receiving `in` from rank `from`; blocks until both
    /// are done. Doing both at once is what keeps a ring of blocking ranks from
    /// deadlocking. With `combine`, the incoming elements are combined with those of
    /// `in`. REQUIRES: `in` has exactly the size the sender sends; to and from are other
    /// ranks; `out` and `in` do not overlap.
    virtual void send_recv(int to, std::span<const std::byte> out, int from,
                           std::span<std::byte> in, const Combine& combine = {}) = 0;

    /// One half of send_recv. Either may block until the other side does its half.
    virtual void send(int to, std::span<const std::byte> out) = 0;
    virtual void recv(int from, std::span<std::byte> in, const Combine& combine = {}) = 0;
};

/// What a process group needs besides: collectives to begin, messages from point to
/// point, waking up, and leaving.
class GroupTransport : public Transport {
  public:
    /// Starts a collective: what the messages that follow belong to, and how long it may
    /// take.
    virtual void begin(const Collective& collective,
                       std::chrono::milliseconds timeout) = 0;

    /// Starts a message from point to point; never blocks. It moves on whenever this
    /// transport waits, and must live until it is done.
    virtual void post(PointMessage& message) = 0;

    /// Blocks until one of the posted messages is done, or wake() was called.
    virtual void progress() = 0;

    /// Moves on what can move at once; never blocks.
    virtual void poll() {}

    /// Makes a wait call `on_wake` on its own thread and go on, or, in progress(), end;
    /// safe from any thread.
    virtual void wake() noexcept = 0;
    virtual void set_on_wake(std::function<void()> on_wake) = 0;

    /// Payload bytes sent, and messages, since the start; headers are not counted.
    virtual uint64_t bytes_sent() const = 0;
    virtual uint64_t messages_sent() const = 0;

    /// Leaves the group and tells the other ranks why; never blocks for long. What they
    /// wait for from this rank throws there. REQUIRES: no send or recv is under way.
    virtual void leave(const Failure& reason) noexcept = 0;

    /// Makes what is under way throw at once, and all that follows; safe from any thread.
    virtual void interrupt() noexcept = 0;
};

}  // namespace mini::dist
