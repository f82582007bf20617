// The mesh: a connection between each two ranks, by shared memory where both are on one
// host and run as one user, by TCP where they are not.
//
//     rank r listens on TCP, and, for its own host, at an abstract UNIX address; it writes
//     into the store where, and which host it is on
//     rank r connects to all lower ranks and accepts all higher ones, so each pair meets
//     exactly once
//
// Within a host, the higher rank makes the memory that both will share and hands it over
// with its first message: the memory has no name, so nothing is left behind when a
// process dies. Both sides say Hello with the run's cookie, their rank, the rank they
// expect, and a random number that the listening rank has put into the store. A
// connection that says anything else is dropped; a listener that answers anything else is
// not the rank that was expected. When the mesh is complete the listeners are closed.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/transport/message_stream.hpp"

namespace mini::dist {

/// What the ranks of backend "ring" talk through.
enum class Medium {
    kAuto,          // shared memory within a host, TCP between hosts
    kTcp,           // TCP everywhere
    kSharedMemory,  // shared memory, or an error for ranks of several hosts or users
};

/// What becomes of each channel before it is used: nothing, or a layer around it. The
/// same on all ranks.
using ChannelLayer = std::function<std::unique_ptr<Channel>(std::unique_ptr<Channel>)>;

/// The connections of one rank to all others.
struct Mesh {
    std::vector<MessageStream> streams;  // by rank; this rank's own is not open
    std::vector<int> hosts;              // by rank: the same number, the same host
};

/// The rank above `mine`'s that sent `theirs` to its listener; -1 for anything else.
int rank_of_connector(const Hello& theirs, const Hello& mine, int world_size);

/// Connects to all other ranks; blocks until all are there. Throws Timeout naming the
/// ranks that are not, and PeerLost, before the deadline, for one that was there and has
/// gone.
Mesh connect_mesh(const RendezvousConfig& config, Store& store,
                  const std::string& local_host, Medium medium, Deadline deadline,
                  const ChannelLayer& layer = {});

}  // namespace mini::dist
