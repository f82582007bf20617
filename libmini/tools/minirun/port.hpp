// Chooses the port on which rank 0 will serve the store. minirun reserves a port that it
// chose, so that no other process gets the port before rank 0 listens or after rank 0 has
// ended.

#pragma once

#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::tools {

struct ChosenPort {
    int number = 0;
    dist::Socket hold;  ///< reserves the port; closed if the caller gave the port
};

/// Returns a TCP port of `address` that is free now: `port`, or any free port if `port`
/// is 0. Throws Error with the address, the port and the next step if the port is busy or
/// the address does not belong to this machine.
ChosenPort choose_port(const std::string& address, int port);

}  // namespace mini::tools
