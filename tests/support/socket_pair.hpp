// The two ends of one connection within a process.

#pragma once

#include <sys/socket.h>

#include <stdexcept>
#include <utility>

#include "libmini/distributed/net/socket.hpp"

namespace mini::test {

/// Returns two connected, non-blocking sockets. Throws std::runtime_error.
inline std::pair<dist::Socket, dist::Socket> socket_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error("socketpair failed");
    return {dist::Socket(ends[0]), dist::Socket(ends[1])};
}

}  // namespace mini::test
