// The mesh: a connection between every two ranks. Two ranks on one host that run as the
// same user exchange their messages through shared memory, and use the connection only
// to wake each other; other ranks send their messages over the connection.
//
//     rank r listens, and writes its address and the id of its host into the store
//     rank r connects to all lower ranks and accepts connections from higher ranks, so
//     each pair connects exactly once
//
// The higher rank allocates the shared memory, and the lower rank opens it as a
// descriptor of the higher rank's process: the memory has no name, so no memory remains
// when a process dies. Both sides send a Hello with the run's cookie, their rank, the
// rank they expect, and a random number that the listening rank has put into the store.
// A rank drops a connection that sends other bytes; a listener that replies with other
// bytes is not the expected rank. When the mesh is complete, the listeners are closed.
//
// A rank that fails before then reports this to the connected ranks as it leaves, and
// under the key "mesh/failure" in the store, where the others look every half second,
// and when a connection closes.

#pragma once

#include <string>
#include <vector>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/store.hpp"
#include "libmini/distributed/transport/medium.hpp"
#include "libmini/distributed/transport/message_stream.hpp"

namespace mini::dist {

/// The connections of one rank to all others.
struct Mesh {
    std::vector<MessageStream> streams;  // by rank; this rank's own is not open
    std::vector<int> hosts;              // by rank; equal numbers mean the same host
};

/// Returns the rank that sent `theirs` to the listener with the Hello `mine`; -1 if
/// `theirs` is invalid or does not come from a higher rank.
int rank_of_connector(const Hello& theirs, const Hello& mine, int world_size);

/// Connects to all other ranks; blocks until all are connected. `local_host` is the
/// address at which they reach this rank: an address of this machine, or the outside
/// address of a machine behind NAT. Throws Timeout naming the missing ranks if the
/// deadline passes. Throws PeerLost, without waiting for the deadline, if a connected
/// rank is gone.
Mesh connect_mesh(const RendezvousConfig& config, Store& store,
                  const std::string& local_host, Medium medium, Deadline deadline);

}  // namespace mini::dist
