// Channel: a reliable, ordered stream of bytes to and from one other rank.
//
//     MessageStream        headers and payloads
//     ------------------------- Channel -------------------------
//     SocketChannel        TCP, between hosts
//     RingChannel          two rings in shared memory, within a host; a socket wakes the
//                          other side and detects its exit
//
// No function blocks: each sends or receives as many bytes as possible. A caller that
// makes no progress calls prepare_to_sleep, sleeps in poll on the channel's descriptor,
// and then calls wake_up.

#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/transport/combine.hpp"

namespace mini::dist {

class Channel {
  public:
    virtual ~Channel() = default;

    /// Sends as many bytes of `head` followed by `body` as there is room for. Returns the
    /// number of bytes sent. Throws ConnectionClosed if the other side is gone.
    virtual size_t send_some(std::span<const std::byte> head,
                             std::span<const std::byte> body) = 0;

    /// Receives up to place.size() bytes. Returns the number of bytes received. Throws
    /// ConnectionClosed if the other side is gone and all its bytes have been received.
    virtual size_t recv_some(std::span<std::byte> place) = 0;

    /// Receives whole elements and combines them with the elements in `place`. Returns
    /// how many bytes of `place` have been updated. Here: by recv_some, into a buffer
    /// that keeps the bytes of an incomplete element. REQUIRES: `place` begins at an
    /// element.
    virtual size_t recv_combine(std::span<std::byte> place, const Combine& combine);

    enum Interest { kNothing = 0, kToSend = 1, kToReceive = 2 };

    /// Announces that this side is about to sleep until it can send (if `interest`
    /// contains kToSend) or receive (if `interest` contains kToReceive). Sets `events` to
    /// the events to poll for. Returns false if the caller must not sleep: the wait is
    /// already over.
    virtual bool prepare_to_sleep(int interest, short& events) = 0;

    /// Ends the sleep; `revents` are the events that poll has returned. To be called
    /// after every prepare_to_sleep.
    virtual void wake_up(short revents) = 0;

    /// Returns, after prepare_to_sleep, the latest time at which the caller must try
    /// again even if poll reports no event.
    virtual Deadline next_event() const { return kNever; }

    /// Returns whether each side can map memory of the other.
    virtual bool shares_memory() const { return false; }

    /// Returns the connection, whose descriptor to poll.
    virtual const Socket& socket() const = 0;

    /// Ends the stream to the other side. The other side still receives all bytes that
    /// were sent before.
    void end_sending() noexcept { system().shutdown(socket().fd(), SHUT_WR); }

    /// Ends both streams: later calls throw ConnectionClosed, on both sides.
    void close() noexcept { system().shutdown(socket().fd(), SHUT_RDWR); }

  private:
    std::vector<std::byte> staging_;  // received, and not combined yet
    size_t staged_ = 0;               // bytes of an incomplete element
};

inline size_t Channel::recv_combine(std::span<std::byte> place, const Combine& combine) {
    // Receive after the bytes of the incomplete element.
    constexpr size_t kStagingBytes = 128 << 10;  // stays in the CPU's cache
    const size_t room = std::min(place.size(), kStagingBytes);
    if (staging_.size() < room) staging_.resize(room);
    const auto free = std::span(staging_).subspan(staged_, room - staged_);
    const size_t have = staged_ + recv_some(free);

    // Combine whole elements, and keep the rest for the next call.
    const size_t whole = have - have % combine.element_bytes;
    combine.apply(place.data(), staging_.data(), whole / combine.element_bytes);
    staged_ = have - whole;
    if (whole > 0)
        std::copy_n(staging_.begin() + static_cast<ptrdiff_t>(whole), staged_,
                    staging_.begin());
    return whole;
}

}  // namespace mini::dist
