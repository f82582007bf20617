// Channel: bytes to and from one other rank, in order, none lost.
//
//     MessageStream        headers and payloads
//     ------------------------- Channel -------------------------
//     SocketChannel        TCP, between hosts
//     RingChannel          two rings in shared memory, within one; a socket beside them
//                          wakes the other side and tells of its end
//
// All functions move what can be moved without blocking. Who has found that nothing moves
// sleeps in poll on the channel's descriptor, after it has announced so.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/transport/combine.hpp"

namespace mini::dist {

class Channel {
  public:
    virtual ~Channel() = default;

    /// Sends the beginning of `head` and `body`, one behind the other, as far as there is
    /// room; the number of bytes. Throws ConnectionClosed when the other side is gone.
    virtual size_t send_some(std::span<const std::byte> head,
                             std::span<const std::byte> body) = 0;

    /// Receives up to place.size() bytes; how many. Throws ConnectionClosed when the
    /// other side is gone and all that it sent has been received.
    virtual size_t recv_some(std::span<std::byte> place) = 0;

    /// The same, but combines what comes in with what `place` holds, in whole elements;
    /// how many bytes of `place` are done. REQUIRES: place begins at an element.
    virtual size_t recv_combine(std::span<std::byte> place, const Combine& combine) = 0;

    enum Interest { kNothing = 0, kToSend = 1, kToReceive = 2 };

    /// Announces that this side is about to sleep until it can do what `interest` says,
    /// a set of Interest; false when it can already. `events` becomes what to poll for.
    virtual bool prepare_to_sleep(int interest, short& events) = 0;

    /// Takes note that poll has returned `revents` for this side.
    virtual void wake_up(short revents) = 0;

    /// When, after prepare_to_sleep, this side must be looked at again though poll has
    /// nothing to tell.
    virtual Deadline next_event() const { return kNever; }

    virtual const Socket& socket() const = 0;
};

}  // namespace mini::dist
