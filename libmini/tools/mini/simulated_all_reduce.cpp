#include "libmini/tools/mini/simulated_all_reduce.hpp"

#include <chrono>

#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/extras/scaling/all_reduce_on_links.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::tools {
namespace {

std::optional<double> formula_of(dist::Algorithm algorithm, size_t bytes,
                                 const dist::ClusterOptions& cluster) {
    const dist::Links& links = cluster.links;
    const bool has_formula = links.ranks_per_host == 1 && links.rates.empty() &&
                             cluster.combine_per_byte.count() == 0 &&
                             algorithm != dist::Algorithm::kHierarchical &&
                             algorithm != dist::Algorithm::kAuto;
    if (!has_formula) return std::nullopt;
    return scaling::seconds_on(links.network, algorithm, cluster.world_size, bytes);
}

}  // namespace

SimulatedAllReduce simulate_all_reduce(dist::Algorithm algorithm, size_t bytes,
                                       dist::ClusterOptions cluster) {
    // Messages have no payload, so all ranks use the same tensor.
    cluster.has_payload = false;
    const auto hosts = dist::hosts_of(cluster.links, cluster.world_size);
    const dist::Call call{
        .operation = dist::Operation::kAllReduce,
        .outputs = {Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))})},
        .algorithm = algorithm};
    SimulatedAllReduce row;
    row.bytes = bytes;
    const auto start = std::chrono::steady_clock::now();
    const auto report = dist::run_cluster(cluster, [&](dist::Transport& transport) {
        const char* const ran = dist::run_over(transport, call, hosts);
        if (transport.rank() == 0) row.algorithm = ran;
    });
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    row.seconds = dist::seconds_of(report.time);
    row.formula = formula_of(algorithm, bytes, cluster);
    row.wall_seconds = wall.count();
    for (const dist::Traffic& sent : report.sent) {
        row.messages += sent.messages;
        row.bytes_sent += sent.bytes;
    }
    return row;
}

}  // namespace mini::tools
