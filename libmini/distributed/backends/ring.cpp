#include "libmini/distributed/backends/ring.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/backends/subgroup_mesh.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/await_all_ranks.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/transport/emulated_link.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

// The emulated links of this rank, in the mesh of its job and in the meshes of subgroups.
class LinkLayer {
  public:
    /// Parses `text` (links.hpp); "" means no links. Throws UsageError if `text` is
    /// invalid, or if the links cannot be emulated.
    LinkLayer(const std::string& text, int rank) : rank_(rank) {
        if (text.empty()) return;
        links_ = parse_links(text);
        if (links_->ranks_per_host != 1)
            throw UsageError(
                "the emulated link \"", text,
                "\" has hosts: their ranks are processes, which cannot share a port "
                "yet; leave \"hosts of\" out, or simulate it (lab 20)");
    }

    /// Replaces the connection to each peer by an emulated link over that connection.
    /// `ranks`: the peers' ranks in the job, by index in `streams`.
    void wrap(std::vector<MessageStream>& streams, const std::vector<int>& ranks) const {
        for (size_t i = 0; links_ && i < streams.size(); ++i) {
            if (!streams[i].is_open()) continue;
            const Route way = route(*links_, rank_, ranks[i]);
            streams[i] = MessageStream(std::make_unique<EmulatedLink>(
                std::move(streams[i]).take_channel(),
                LinkSpec{way.bytes_per_second, way.delay}, ports_));
        }
    }

  private:
    int rank_;
    std::optional<Links> links_;
    std::shared_ptr<RankPorts> ports_ = std::make_shared<RankPorts>();
};

struct RingSettings {
    std::string backend;
    Cookie cookie;
    std::string local_host;
    Medium medium;
    LinkLayer layer;
};

// Returns the function that creates subgroups of a group.
Splitter ring_splitter(const RingSettings& settings) {
    return [=](const std::vector<int>& ranks,
               ProcessGroup& parent) -> std::unique_ptr<Backend> {
        auto mesh = connect_members(ranks, parent, settings.cookie, settings.local_host,
                                    settings.medium);
        if (!mesh) return nullptr;
        std::vector<int> members;
        for (const int rank : ranks) members.push_back(get_global_rank(parent, rank));
        settings.layer.wrap(mesh->streams, members);
        return std::make_unique<TransportBackend>(
            settings.backend,
            std::make_unique<MeshTransport>(index_among(ranks, parent),
                                            std::move(mesh->streams)),
            mesh->hosts, ring_splitter(settings));
    };
}

}  // namespace

Splitter splitter_on_this_host(const std::string& backend) {
    return ring_splitter({backend, Cookie{}, "127.0.0.1", Medium::kAuto, {"", 0}});
}

std::shared_ptr<QueuedGroup> make_ring_group(const RendezvousConfig& config,
                                             Medium medium,
                                             std::chrono::milliseconds timeout,
                                             const std::string& link) {
    const LinkLayer layer(link, config.rank);
    const Deadline deadline = deadline_after(timeout);
    Rendezvous rendezvous = join_rendezvous(config, deadline);
    std::vector<int> members(static_cast<size_t>(config.world_size));
    std::iota(members.begin(), members.end(), 0);
    Mesh mesh;
    std::unique_ptr<MeshTransport> transport;
    try {
        mesh = connect_mesh(config, *rendezvous.store, rendezvous.local_host, medium,
                            deadline);
        layer.wrap(mesh.streams, members);
        transport = std::make_unique<MeshTransport>(config.rank, std::move(mesh.streams));
        await_all_ranks(*transport, deadline);
    } catch (const Error&) {
        part_after_failure(std::move(rendezvous));
        throw;
    }
    auto group = std::make_shared<QueuedGroup>(
        std::make_unique<TransportBackend>(
            "ring", std::move(transport), std::move(mesh.hosts),
            ring_splitter({"ring", config.cookie, rendezvous.local_host, medium, layer})),
        timeout);

    // No rank needs the store any more. Close the store before any rank continues,
    // because the ranks may meet again at the same address.
    rendezvous = {};
    group->barrier_until(deadline);
    return group;
}

}  // namespace mini::dist
