// The port on which rank 0 will serve the store. minirun only chooses it: it binds, reads
// the number, and lets go before the ranks start.

#pragma once

#include <string>

namespace mini::tools {

/// A TCP port of `address` that is free now: `port` itself, or any when `port` is 0.
/// Throws Error naming address, port and the next step when the port is busy or the
/// address not ours.
int choose_port(const std::string& address, int port);

}  // namespace mini::tools
