#include "libmini/distributed/backends/registry.hpp"

#include <algorithm>
#include <cstdlib>

#include "libmini/distributed/backends/gloo.hpp"
#include "libmini/distributed/backends/mpi.hpp"
#include "libmini/distributed/backends/nccl.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/backends/threads.hpp"

namespace mini::dist {
namespace {

using GroupHandle = std::shared_ptr<ProcessGroup>;

RendezvousConfig config_of(const InitOptions& options) {
    return rendezvous_config(options.init_method, options.rank, options.world_size);
}

std::string link_of(const InitOptions& options) {
    const char* const variable = std::getenv("MINI_LINK");
    return options.link.empty() && variable != nullptr ? variable : options.link;
}

GroupHandle make_ring(const InitOptions& options) {
    return make_ring_group(config_of(options), options.medium, options.timeout,
                           link_of(options));
}

// Creates a group of one rank. Throws UsageError for more ranks: run_threads must start
// their threads.
GroupHandle make_threads(const InitOptions& options) {
    if (options.world_size > 1 || options.rank > 0)
        throw UsageError(
            "init_process_group: the ranks of backend \"threads\" are started by "
            "dist::run_threads, which also makes their default group");
    return make_threads_groups(1, options.timeout).front();
}

GroupHandle make_gloo(const InitOptions& options) {
    return make_gloo_group(config_of(options), options.verify.value_or(true),
                           options.timeout);
}

// Rank and world size come from MPI; `options` may only confirm them.
GroupHandle make_mpi(const InitOptions& options) {
    return make_mpi_group({.rank = options.rank,
                           .world_size = options.world_size,
                           .verify = options.verify.value_or(true),
                           .timeout = options.timeout});
}

GroupHandle make_nccl(const InitOptions& options) {
    return make_nccl_group(config_of(options), options.verify.value_or(false),
                           options.timeout);
}

}  // namespace

const std::vector<BackendEntry>& known_backends() {
    static const std::vector<BackendEntry> entries = {
        {"ring", "", &make_ring},
        {"threads", "", &make_threads},
        {"gloo", why_no_gloo(), &make_gloo},
        {"mpi", why_no_mpi(), &make_mpi},
        {"nccl", why_no_nccl(), &make_nccl},
    };
    return entries;
}

const BackendEntry& find_backend(const std::string& name) {
    const auto& entries = known_backends();
    const auto found = std::ranges::find(entries, name, &BackendEntry::name);
    if (found != entries.end() && found->why_not.empty()) return *found;

    std::string available;
    for (const BackendEntry& entry : entries)
        if (entry.why_not.empty())
            available += concat(available.empty() ? "" : ", ", entry.name);
    throw UsageError(
        concat("init_process_group: this build has no backend \"", name, "\"",
               found == entries.end() ? "" : concat(" (", found->why_not, ")"),
               "; it has ", available));
}

}  // namespace mini::dist
