// RendezvousConfig: the rank, the world size and the address of the store, which a rank
// reads from the init method and the launcher's environment.

#pragma once

#include <string>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// The input of a rendezvous: all that a rank knows before it connects to other ranks.
struct RendezvousConfig {
    Address master;
    int rank = -1;
    int world_size = -1;
    Cookie cookie{};
    std::string file = "";         // the path for file://; replaces `master`
    std::string run_id = "";       // "": none
    std::string advertise = "";    // "": the local address of the connection to the store
    bool has_other_hosts = false;  // the launcher has started ranks on other hosts
    std::string store_address = "";  // numeric; "": not connected yet
};

/// Reads the init method and the environment; `rank` and `world_size`, if not -1, take
/// precedence over both. Logs at level info which launcher's variables are used. Throws
/// UsageError naming the variable if a value is missing, not a number or out of range
/// (`torch.distributed.init_process_group`).
RendezvousConfig rendezvous_config(const std::string& init_method, int rank,
                                   int world_size);

}  // namespace mini::dist
