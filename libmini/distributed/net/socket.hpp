// TCP sockets with an owner and a deadline.
//
// Every socket made here is non-blocking, closed on exec, and sends small messages
// immediately (TCP_NODELAY). All waits use poll, so that no call can outlast its
// deadline. Short reads, short writes and interrupting signals are handled here and
// nowhere else.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "libmini/core/descriptor.hpp"
#include "libmini/distributed/net/deadline.hpp"
#include "libmini/distributed/net/system.hpp"

namespace mini::dist {

/// The peer closed the connection, or its process is gone.
class ConnectionClosed : public Error {
  public:
    using Error::Error;
};

/// Closes a socket of system().
inline void close_socket(int fd) noexcept { system().close(fd); }

/// A socket or another descriptor of system().
using Socket = OwnedDescriptor<close_socket>;

/// Returns "127.0.0.1:29500" or "[::1]:29500".
std::string to_text(const Address& address);

/// Parses the text of to_text(). Throws UsageError for text of another form ("port number
/// missing") or a port outside 0 .. 65535.
Address parse_address(const std::string& text);

/// Returns a socket that listens on exactly this address; port 0 takes any free port.
/// Throws Error naming the address, the reason and the next step.
Socket listen_on(const Address& address);

/// Returns a socket that reserves a port without listening on it; port 0 takes any free
/// port. While this socket is open, the kernel does not give its port (see local_address)
/// to a socket that asks for any free port; a socket that asks for this port by number,
/// as listen_on does, gets it. Throws Error as listen_on does.
Socket reserve_port(const Address& address);

/// Return the numeric address of the socket's own end, or of the peer; host "?" if it has
/// none.
Address local_address(const Socket& socket);
Address peer_address(const Socket& socket);

/// Whether a numeric address can be reached from this machine only: 127.x.x.x or ::1.
bool is_loopback(const Address& address);

/// Whether a socket is connected to itself. This happens when the kernel chooses as its
/// own port the very port to which it connects (TCP simultaneous open).
bool is_connected_to_itself(const Socket& socket);

/// What connect_to assumes when no socket listens at the address: that the listener has
/// not started yet, or that it is gone.
enum class Refusal { kNotYet, kNoMore };

/// Connects; blocks and tries again until the deadline. Throws Timeout with the reason of
/// the last attempt. With kNoMore, for an address where a process has listened before,
/// throws ConnectionClosed as soon as the connection is refused.
Socket connect_to(const Address& address, Deadline deadline,
                  Refusal refusal = Refusal::kNotYet);

/// Accepts a pending connection; returns a closed Socket if there is none. Never blocks.
Socket accept_from(const Socket& listener);

/// Accepts connections for a poll loop. When the process has no descriptor or memory for
/// one more connection, it pauses accepting for 50 ms, because poll would return
/// immediately and the loop would spin.
class Acceptor {
  public:
    /// A closed `listener` accepts no connection.
    explicit Acceptor(Socket listener) : listener_(std::move(listener)) {}

    const Socket& listener() const { return listener_; }

    /// Returns the descriptor to poll: the listener's, or -1, which poll skips, during a
    /// pause.
    int poll_fd();

    /// Returns when to poll again at the latest: `deadline`, or the end of a pause if
    /// earlier.
    Deadline next_turn(Deadline deadline) const;

    bool is_paused() const { return pause_end_.has_value(); }

    /// Accepts a pending connection; returns a closed Socket if there is none. Never
    /// blocks. `make_room` is called if there is no descriptor or memory: it closes a
    /// connection that can be spared and returns true, or returns false.
    Socket accept(const std::function<bool()>& make_room);

  private:
    Socket listener_;
    std::optional<Deadline> pause_end_;
};

/// Blocks until one of `events` (POLLIN, POLLOUT) or an error occurs. Returns false if
/// the deadline passed.
bool wait_for(const Socket& socket, short events, Deadline deadline);

/// Send or receive as many bytes as possible without blocking; return the number, perhaps
/// 0. Throw ConnectionClosed if the peer is gone. `body` follows `bytes` in one packet, if
/// both are small.
size_t send_some(const Socket& socket, std::span<const std::byte> bytes,
                 std::span<const std::byte> body = {});
size_t recv_some(const Socket& socket, std::span<std::byte> bytes);

/// Send or receive all bytes; block until done. Throw ConnectionClosed or Timeout.
void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline);
void recv_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline);

}  // namespace mini::dist
