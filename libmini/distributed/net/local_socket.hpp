// Sockets within a host: connections that can carry a descriptor. Their addresses live in
// the kernel only (abstract UNIX addresses), so nothing is left behind.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// What tells this host, as far as sockets go, from all others: its kernel's start and
/// its network namespace.
std::string this_host();

/// A random name for a listener, with this process's user in it; whether two such names
/// have the same user.
std::string random_local_name();
bool belong_to_one_user(const std::string& name, const std::string& other);

/// A socket that listens at `name`, and one that is connected to it. The latter throws
/// ConnectionClosed when no socket listens there.
Socket listen_locally(const std::string& name);
Socket connect_locally(const std::string& name, Deadline deadline);

/// Whether the process at the other end belongs to this user.
bool is_same_user(const Socket& socket);

/// Sends bytes that fit at once, and a descriptor with them.
void send_with_descriptor(const Socket& socket, std::span<const std::byte> bytes,
                          const Socket& descriptor);

/// As recv_some; a descriptor that comes along goes to `descriptor`, further ones are
/// closed.
size_t recv_with_descriptor(const Socket& socket, std::span<std::byte> bytes,
                            Socket& descriptor);

}  // namespace mini::dist
