#include "libmini/extras/simulation/mesh_cluster.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"

namespace mini::dist {

std::vector<ProcessEnd> run_mesh(ProcessCluster& cluster,
                                 const std::function<void(GroupTransport&)>& body) {
    const auto P = static_cast<size_t>(cluster.process_count());
    std::vector<std::vector<MessageStream>> streams(P);
    for (auto& of_rank : streams) of_rank.resize(P);
    for (size_t a = 0; a < P; ++a) {
        for (size_t b = a + 1; b < P; ++b) {
            auto [first, second] =
                cluster.system().connect_pair(static_cast<int>(a), static_cast<int>(b));
            streams[a][b] =
                MessageStream(std::make_unique<SocketChannel>(std::move(first)));
            streams[b][a] =
                MessageStream(std::make_unique<SocketChannel>(std::move(second)));
        }
    }
    return cluster.run([&](int rank) {
        MeshTransport transport(rank, std::move(streams[static_cast<size_t>(rank)]));
        try {
            body(transport);
        } catch (const std::exception&) {
            transport.leave(current_failure());
            throw;
        }
    });
}

}  // namespace mini::dist
