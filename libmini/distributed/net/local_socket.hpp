// UNIX sockets within a host: connections that can pass a descriptor. Their addresses
// exist only in the kernel (abstract UNIX addresses), so no file remains after a run.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// Returns a random name for a listener, which contains this process's user id.
std::string random_local_name();

/// Whether two such names contain the same user id.
bool belong_to_one_user(const std::string& name, const std::string& other);

/// Returns a socket that listens at `name`.
Socket listen_locally(const std::string& name);

/// Returns a socket connected to the listener `name`. Throws ConnectionClosed if no
/// socket listens there, Timeout if it does not accept before the deadline.
Socket connect_locally(const std::string& name, Deadline deadline);

/// Whether the process at the other end belongs to this user.
bool is_same_user(const Socket& socket);

/// Sends `bytes`, few enough for one system call, together with a descriptor. Throws
/// ConnectionClosed if they cannot be sent.
void send_with_descriptor(const Socket& socket, std::span<const std::byte> bytes,
                          const Socket& descriptor);

/// Like recv_some. A descriptor that arrives with the bytes is stored in `descriptor`;
/// further descriptors are closed.
size_t recv_with_descriptor(const Socket& socket, std::span<std::byte> bytes,
                            Socket& descriptor);

}  // namespace mini::dist
