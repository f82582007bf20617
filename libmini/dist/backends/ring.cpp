#include "libmini/dist/backends/ring.hpp"

#include "libmini/dist/tcp_mesh.hpp"
#include "libmini/dist/tcp_transport.hpp"

namespace mini::dist {

std::shared_ptr<TransportGroup> make_ring_group(const Meeting& meeting,
                                                std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    const Rendezvous rendezvous = meet(meeting, deadline);
    auto streams = connect_mesh(meeting, *rendezvous.store, deadline);
    auto group = std::make_shared<TransportGroup>(
        "ring", std::make_unique<TcpTransport>(meeting.rank, std::move(streams)),
        timeout);

    // Nobody may leave, and close the store, while another still needs it.
    group->barrier();
    return group;
}

}  // namespace mini::dist
