// A connection whose two ends are in one process.

#pragma once

#include <sys/socket.h>

#include <stdexcept>
#include <utility>

#include "libmini/distributed/net/socket.hpp"

namespace mini::test {

/// Returns two non-blocking sockets that are connected to each other. Throws
/// std::runtime_error if the system cannot create them.
inline std::pair<dist::Socket, dist::Socket> socket_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error("socketpair failed");
    return {dist::Socket(ends[0]), dist::Socket(ends[1])};
}

}  // namespace mini::test
