#include "libmini/distributed/backends/ring.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/backends/subgroup_mesh.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/dissemination_barrier.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/transport/emulated_link.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

ChannelLayer link_layer(const std::string& link) {
    const auto spec = parse_link(link);
    if (!spec) return {};
    return [spec](std::unique_ptr<Channel> inner) -> std::unique_ptr<Channel> {
        return std::make_unique<EmulatedLink>(std::move(inner), *spec);
    };
}

Splitter ring_splitter(const Cookie& cookie, const std::string& local_host, Medium medium,
                       const ChannelLayer& layer) {
    return [=](const std::vector<int>& ranks,
               ProcessGroup& parent) -> std::unique_ptr<Backend> {
        auto mesh = connect_members(ranks, parent, cookie, local_host, medium, layer);
        if (!mesh) return nullptr;
        return std::make_unique<TransportBackend>(
            "ring",
            std::make_unique<MeshTransport>(index_among(ranks, parent),
                                            std::move(mesh->streams)),
            mesh->hosts, ring_splitter(cookie, local_host, medium, layer));
    };
}

}  // namespace

std::shared_ptr<QueuedGroup> make_ring_group(const RendezvousConfig& config,
                                             Medium medium,
                                             std::chrono::milliseconds timeout,
                                             const std::string& link) {
    const ChannelLayer layer = link_layer(link);
    const Deadline deadline = deadline_after(timeout);
    Rendezvous rendezvous = join_rendezvous(config, deadline);
    Mesh mesh;
    std::unique_ptr<MeshTransport> transport;
    try {
        mesh = connect_mesh(config, *rendezvous.store, rendezvous.local_host, medium,
                            deadline, layer);
        transport = std::make_unique<MeshTransport>(config.rank, std::move(mesh.streams));
        await_all_ranks(*transport, deadline);
    } catch (const Error&) {
        part_after_failure(std::move(rendezvous));
        throw;
    }
    auto group = std::make_shared<QueuedGroup>(
        std::make_unique<TransportBackend>(
            "ring", std::move(transport), std::move(mesh.hosts),
            ring_splitter(config.cookie, rendezvous.local_host, medium, layer)),
        timeout);

    // No rank needs the store any more. Close it before any rank continues: the ranks may
    // meet again at the same address.
    rendezvous = {};
    group->barrier_until(deadline);
    return group;
}

}  // namespace mini::dist
