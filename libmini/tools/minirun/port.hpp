// The port on which rank 0 will serve the store. minirun only chooses it, and sees to it
// that no other process gets a free one before rank 0 listens, or when rank 0 has ended.

#pragma once

#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::tools {

struct ChosenPort {
    int number = 0;
    dist::Socket hold;  ///< keeps a free port from all who ask for any
};

/// A TCP port of `address` that is free now: `port` itself, or any when `port` is 0.
/// Throws Error naming address, port and the next step when the port is busy or the
/// address not ours.
ChosenPort choose_port(const std::string& address, int port);

}  // namespace mini::tools
