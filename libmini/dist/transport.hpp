// Transport: bytes from one rank to another, all that the algorithms of this room stand
// on.
//
//     algorithms/     ring_all_reduce   tree_broadcast   ring_all_gather   barrier
//                     -------------------------- Transport --------------------------
//                     ThreadsTransport (mailboxes)       TcpTransport (a full mesh)
//
// Messages between two ranks arrive in the order in which they were sent. Each carries
// the collective it belongs to; one that belongs to another is never delivered.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/dist/collective.hpp"
#include "libmini/dist/deadline.hpp"
#include "libmini/dist/failure.hpp"

namespace mini::dist {

// All blocking functions throw PeerLost naming the rank that is gone, Timeout naming the
// silent one, MismatchedCollective naming both. After that the transport is of no further
// use.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// Starts a collective: what the messages that follow belong to, and how long it may
    /// take.
    virtual void begin(const Collective& collective,
                       std::chrono::milliseconds timeout) = 0;

    /// Sends `out` to rank `to` while receiving `in` from rank `from`; blocks until both
    /// are done. Doing both at once is what keeps a ring of blocking ranks from
    /// deadlocking. REQUIRES: `in` has exactly the size the sender sends; to and from are
    /// other ranks.
    virtual void send_recv(int to, std::span<const std::byte> out, int from,
                           std::span<std::byte> in) = 0;

    /// One half of send_recv. Either may block until the other side does its half.
    virtual void send(int to, std::span<const std::byte> out) = 0;
    virtual void recv(int from, std::span<std::byte> in) = 0;

    /// Payload bytes sent since the start, headers not counted.
    virtual uint64_t bytes_sent() const = 0;

    /// Leaves the group and tells the other ranks why; never blocks for long. What they
    /// wait for from this rank throws there. REQUIRES: no send or recv is under way.
    virtual void leave(const Failure& reason) noexcept = 0;

    /// Makes what is under way throw at once, and all that follows; safe from any thread.
    virtual void interrupt() noexcept = 0;
};

}  // namespace mini::dist
