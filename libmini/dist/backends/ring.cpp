#include "libmini/dist/backends/ring.hpp"

#include "libmini/dist/backends/transport_backend.hpp"
#include "libmini/dist/mesh_transport.hpp"

namespace mini::dist {

std::shared_ptr<QueuedGroup> make_ring_group(const Meeting& meeting, Medium medium,
                                             std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    const Rendezvous rendezvous = meet(meeting, deadline);
    Mesh mesh = connect_mesh(meeting, *rendezvous.store, rendezvous.store->local_host(),
                             medium, deadline);
    auto transport =
        std::make_unique<MeshTransport>(meeting.rank, std::move(mesh.streams));
    auto group = std::make_shared<QueuedGroup>(
        std::make_unique<TransportBackend>(
            "ring", std::move(transport), std::move(mesh.hosts),
            make_ring_splitter(meeting.cookie, rendezvous.store->local_host(), medium)),
        timeout);

    // Nobody may leave, and close the store, while another still needs it.
    group->barrier();
    return group;
}

}  // namespace mini::dist
