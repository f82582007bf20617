// TCP sockets as RAII objects, and functions on them that take a deadline.
//
// Every socket made here is non-blocking, closed on exec, and sends small messages
// immediately (TCP_NODELAY). All waits use poll, so that no call can outlast its
// deadline. All functions handle interrupting signals (EINTR); send_all and recv_all also
// handle short writes and short reads.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "libmini/core/descriptor.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/system.hpp"

namespace mini::dist {

/// Thrown if the peer has closed the connection or the peer's process is gone.
class ConnectionClosed : public Error {
  public:
    using Error::Error;
};

/// Closes a descriptor of system().
inline void close_socket(int fd) noexcept { system().close(fd); }

/// Owns a socket or another descriptor of system().
using Socket = OwnedDescriptor<close_socket>;

/// Returns the address as text: "127.0.0.1:29500" or "[::1]:29500".
std::string to_text(const Address& address);

/// Parses text in the form of to_text(). Throws UsageError for text of another form
/// ("port number missing") or a port outside 0 .. 65535.
Address parse_address(const std::string& text);

/// Blocks until the host name has an address: the name of a new container or virtual
/// machine may appear in DNS seconds after its start. Looks the name up once per second,
/// and logs a warning after a few seconds. Throws Timeout if the deadline passes first,
/// and Error at once if the text can never be a host name.
void await_name(const Address& address, Deadline deadline);

/// Returns a socket that listens on exactly this address; port 0 takes any free port.
/// Throws Error naming the address, the reason and the next step; Timeout, without
/// waiting, if the host name has no address now.
Socket listen_on(const Address& address);

/// Returns a socket that listens on any free port of `host`, the address that other
/// machines use for this one. If this machine has no such address, as behind NAT, listens
/// on all its addresses. Throws as listen_on does.
Socket listen_for(const std::string& host);

/// Returns a socket that reserves a port without listening on it; port 0 takes any free
/// port. While the socket is open, the kernel does not choose its port (see
/// local_address) for a socket that asks for any free port, but listen_on succeeds with
/// this port number. Throws Error as listen_on does.
Socket reserve_port(const Address& address);

/// Return the numeric address of the socket's own end, or of its peer; host "?" if the
/// socket has no such address.
Address local_address(const Socket& socket);
Address peer_address(const Socket& socket);

/// Returns whether only this machine can reach a numeric address: 127.x.x.x or ::1.
bool is_loopback(const Address& address);

/// Returns whether a numeric address means all addresses of this machine: 0.0.0.0 or ::.
bool is_any(const Address& address);

/// Returns whether a socket is connected to itself (TCP simultaneous open). This happens
/// if the kernel chooses, for the socket's own end, the same port to which the socket
/// connects.
bool is_connected_to_itself(const Socket& socket);

/// What connect_to assumes if no socket listens at the address: that the listener has not
/// started yet (kNotYet), or that the listener is gone (kNoMore).
enum class Refusal { kNotYet, kNoMore };

/// Connects; blocks, and tries again if an attempt fails, even if the host name has no
/// address yet (see await_name). Logs a warning after a few seconds. Throws Timeout with
/// the reason of the last failed attempt if the deadline passes, and Error at once if the
/// machine's loopback interface, which the address needs, is down. kNoMore is for an
/// address at which a process has listened: throws ConnectionClosed if the connection is
/// refused.
Socket connect_to(const Address& address, Deadline deadline,
                  Refusal refusal = Refusal::kNotYet);

/// Accepts a pending connection; returns a closed Socket if there is none. Never blocks.
/// If the process has no descriptor or memory left for it, throws Error, or calls
/// `make_room`, which drops another connection and returns true, or returns false if
/// there is none to drop. Then this function sleeps for 50 ms: the connection is still
/// pending, so poll would return immediately each time and the caller's loop would spin.
Socket accept_from(const Socket& listener,
                   const std::function<bool()>& make_room = nullptr);

/// Blocks until one of `events` (POLLIN, POLLOUT) or an error occurs. Returns false if
/// the deadline passes first.
bool wait_for(const Socket& socket, short events, Deadline deadline);

/// Send or receive as many bytes as possible without blocking; return the number, perhaps
/// 0. Throw ConnectionClosed if the peer is gone. send_some sends `body` after `bytes`,
/// in the same packet if both are small.
size_t send_some(const Socket& socket, std::span<const std::byte> bytes,
                 std::span<const std::byte> body = {});
size_t recv_some(const Socket& socket, std::span<std::byte> bytes);

/// Send or receive all bytes; block until done. Throw ConnectionClosed or Timeout.
void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline);
void recv_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline);

}  // namespace mini::dist
