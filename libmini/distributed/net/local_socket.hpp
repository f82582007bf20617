// UNIX sockets: connections within a host that can pass a descriptor to the peer. The
// sockets have abstract addresses, which exist only in the kernel, so that no file
// remains after a run.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// Returns a random name for a listener; the name contains this process's user id.
std::string random_local_name();

/// Returns whether two names of random_local_name() contain the same user id.
bool belong_to_one_user(const std::string& name, const std::string& other);

/// Returns a socket that listens at the abstract address `name`.
Socket listen_locally(const std::string& name);

/// Returns a socket connected to the listener `name`; blocks until connected. Throws
/// ConnectionClosed if no socket listens at `name`, and Timeout if the listener's backlog
/// is full until the deadline.
Socket connect_locally(const std::string& name, Deadline deadline);

/// Returns whether the process at the other end runs as the same user as this process.
bool is_same_user(const Socket& socket);

/// Sends `bytes` and a descriptor with one system call. Throws ConnectionClosed if this
/// call does not send all bytes.
void send_with_descriptor(const Socket& socket, std::span<const std::byte> bytes,
                          int descriptor);

/// Receives bytes as recv_some does. Sets `descriptor` to the first descriptor that
/// arrives with the bytes; closes further descriptors. Throws Error if this process has
/// no descriptors left for it.
size_t recv_with_descriptor(const Socket& socket, std::span<std::byte> bytes,
                            Socket& descriptor);

}  // namespace mini::dist
