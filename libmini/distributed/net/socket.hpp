// TCP sockets with an owner and a deadline.
//
// Every socket made here is non-blocking, closed on exec, and sends small messages at
// once (TCP_NODELAY). Waiting is done with poll, so that no call can outlast its
// deadline; short reads and writes and interrupting signals are dealt with here and
// nowhere else.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "libmini/core/descriptor.hpp"
#include "libmini/distributed/net/deadline.hpp"

namespace mini::dist {

/// The other side closed the connection, or its process is gone.
class ConnectionClosed : public Error {
  public:
    using Error::Error;
};

using Socket = Descriptor;

/// A host name or number and a port.
struct Address {
    std::string host;
    int port = 0;
};

/// "127.0.0.1:29500", "[::1]:29500", and back; the latter throws UsageError for text that
/// is not of this form ("port number missing") or a port outside 0 .. 65535.
std::string to_text(const Address& address);
Address parse_address(const std::string& text);

/// How many connections may wait to be accepted.
constexpr int kBacklog = 512;

/// A socket that listens on exactly this address; port 0 takes any free one. Throws Error
/// naming the address, the reason and the next step.
Socket listen_on(const Address& address);

/// The port of an address, held without listening on it; with port 0 any free one. While this
/// socket lives, the kernel does not give its port (`local_address`) to a socket that asks for
/// any; one that names the port, as listen_on does, gets it. Throws Error as listen_on does.
Socket hold_port(const Address& address);

/// The numeric addresses of a socket's own end and of the other one; "?" when it has
/// none.
Address local_address(const Socket& socket);
Address peer_address(const Socket& socket);

/// Whether only this machine reaches a numeric address: 127.x.x.x or ::1.
bool is_loopback(const Address& address);

/// Whether a socket's two ends are one: TCP connects a socket whose own port the kernel
/// has chosen to be the one that it asks for to itself (simultaneous open).
bool is_connected_to_itself(const Socket& socket);

/// What it means when no socket listens at an address.
enum class Refusal { kNotYet, kNoMore };

/// Connects, trying again until the deadline; blocks until then. Throws Timeout with the
/// reason of the last attempt, and ConnectionClosed at once for kNoMore, when the address
/// is of one that did listen there.
Socket connect_to(const Address& address, Deadline deadline,
                  Refusal refusal = Refusal::kNotYet);

/// A connection that waits to be accepted; a closed Socket when there is none. Never
/// blocks.
Socket accept_from(const Socket& listener);

/// Accepts connections in a loop around poll. While the process has no descriptor or
/// memory for one more, it leaves the listener alone for a moment, as the loop would
/// spin.
class Acceptor {
  public:
    explicit Acceptor(Socket listener) : listener_(std::move(listener)) {}

    const Socket& listener() const { return listener_; }

    /// What poll is to watch: the listener; -1, which poll skips, during a pause.
    int poll_fd();

    /// When to poll again at the latest: `deadline`, or the end of a pause before it.
    Deadline next_turn(Deadline deadline) const;

    bool is_paused() const { return pause_end_.has_value(); }

    /// A connection that waits to be accepted; a closed Socket when there is none. Never
    /// blocks. `make_room` closes a connection that can be spared, if there is one.
    Socket accept(const std::function<bool()>& make_room);

  private:
    Socket listener_;
    std::optional<Deadline> pause_end_;
};

/// Blocks until one of `events` (POLLIN, POLLOUT) or an error; false when the deadline
/// passed.
bool wait_for(const Socket& socket, short events, Deadline deadline);

/// Moves what can be moved without blocking and returns how many bytes, perhaps 0. Throw
/// ConnectionClosed when the other side is gone.
size_t send_some(const Socket& socket, std::span<const std::byte> bytes);
size_t recv_some(const Socket& socket, std::span<std::byte> bytes);

/// Sends or receives all; block until then. Throw ConnectionClosed or Timeout.
void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline);
void recv_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline);

}  // namespace mini::dist
