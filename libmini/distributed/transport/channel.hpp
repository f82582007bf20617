// Channel: a reliable, ordered stream of bytes to and from one other rank.
//
//     MessageStream        headers and payloads
//     ------------------------- Channel -------------------------
//     SocketChannel        TCP, between hosts
//     RingChannel          two rings in shared memory, within a host; a socket wakes the
//                          other side and detects its exit
//
// No function blocks: each sends or receives as many bytes as possible. A caller that
// makes no progress calls prepare_to_sleep and then sleeps in poll on the channel's
// descriptor.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/transport/combine.hpp"

namespace mini::dist {

class Channel {
  public:
    virtual ~Channel() = default;

    /// Sends the beginning of `head` followed by `body`, as far as there is room. Returns
    /// the number of bytes. Throws ConnectionClosed if the other side is gone.
    virtual size_t send_some(std::span<const std::byte> head,
                             std::span<const std::byte> body) = 0;

    /// Receives up to place.size() bytes. Returns the number. Throws ConnectionClosed if
    /// the other side is gone and all its bytes have been received.
    virtual size_t recv_some(std::span<std::byte> place) = 0;

    /// Receives whole elements and combines them with the elements in `place`. Returns
    /// how many bytes of `place` have been updated. REQUIRES: `place` begins at an
    /// element.
    virtual size_t recv_combine(std::span<std::byte> place, const Combine& combine) = 0;

    enum Interest { kNothing = 0, kToSend = 1, kToReceive = 2 };

    /// Announces that this side is about to sleep until it can send or receive, as
    /// `interest` (a set of Interest) says. Returns false if it already can. Sets
    /// `events` to the events to poll for.
    virtual bool prepare_to_sleep(int interest, short& events) = 0;

    /// To be called after poll, with the events that it returned.
    virtual void wake_up(short revents) = 0;

    /// Returns, after prepare_to_sleep, the latest time at which the caller must try
    /// again even if poll reports no event.
    virtual Deadline next_event() const { return kNever; }

    virtual const Socket& socket() const = 0;

    /// The descriptor for poll.
    virtual int poll_fd() const { return socket().fd(); }

    /// Ends the stream to the other side, which can still receive all bytes sent before.
    virtual void end_sending() noexcept;

    /// Ends both streams: later calls throw ConnectionClosed, on both sides.
    virtual void close() noexcept;

  protected:
    /// Returns the events to poll for on a connection. A side that only sends also watches
    /// for POLLRDHUP: the other side receives no more.
    static short connection_events(int interest);
};

}  // namespace mini::dist
