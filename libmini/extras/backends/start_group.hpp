// How a group of a library starts: rendezvous, side channel, library, then the store closes.

#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "libmini/distributed/collectives/await_all_ranks.hpp"
#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/extras/backends/verify.hpp"

namespace mini::dist {

/// Connects the side channel, calls make_backend(side, store), which returns a connected
/// backend, and creates the group. Blocks until all ranks are connected. Throws as
/// connect_mesh and `make_backend` do.
template <typename MakeBackend>
std::shared_ptr<QueuedGroup> start_group(Rendezvous rendezvous,
                                         const RendezvousConfig& config, bool verify,
                                         std::chrono::milliseconds timeout,
                                         Deadline deadline,
                                         const MakeBackend& make_backend) {
    std::shared_ptr<QueuedGroup> group;
    try {
        Store& store = *rendezvous.store;
        Mesh mesh =
            connect_mesh(config, store, rendezvous.local_host, Medium::kAuto, deadline);
        SideChannel side{.transport = std::make_unique<MeshTransport>(
                             config.rank, std::move(mesh.streams)),
                         .verify = verify,
                         .hosts = std::move(mesh.hosts),
                         .cookie = config.cookie,
                         .local_host = rendezvous.local_host};
        await_all_ranks(*side.transport, deadline);
        group =
            std::make_shared<QueuedGroup>(make_backend(std::move(side), store), timeout);
    } catch (const Error&) {
        part_after_failure(std::move(rendezvous));
        throw;
    }

    // Close the store. No rank returns before rank 0 has closed its server, so that the
    // ranks can meet again at the same address.
    part(std::move(rendezvous), deadline);
    group->barrier_until(deadline);
    return group;
}

}  // namespace mini::dist
