// Chooses the port on which rank 0 will serve the store. minirun holds a free port, so
// that no other process gets it before rank 0 listens or after rank 0 has ended.

#pragma once

#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::tools {

struct ChosenPort {
    int number = 0;
    dist::Socket hold;  ///< reserves a port that was chosen because `port` was 0
};

/// Returns a TCP port of `address` that is free now: `port`, or any free one if `port` is
/// 0. Throws Error with the address, the port and the next step if the port is busy or
/// the address is not this machine's.
ChosenPort choose_port(const std::string& address, int port);

}  // namespace mini::tools
