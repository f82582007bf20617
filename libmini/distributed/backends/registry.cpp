#include "libmini/distributed/backends/registry.hpp"

#include <algorithm>

#include "libmini/core/machine.hpp"
#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/backends/threads.hpp"

namespace mini::dist {
namespace {

std::string link_of(const InitOptions& options) {
    return options.link.empty() ? environment("MINI_LINK") : options.link;
}

std::shared_ptr<ProcessGroup> make_ring(const InitOptions& options) {
    return make_ring_group(
        rendezvous_config(options.init_method, options.rank, options.world_size),
        options.medium, options.timeout, link_of(options));
}

// Creates a group of one rank. Throws UsageError for more ranks: run_threads must start
// their threads.
std::shared_ptr<ProcessGroup> make_threads(const InitOptions& options) {
    if (options.world_size > 1 || options.rank > 0)
        throw UsageError(
            "init_process_group: the ranks of backend \"threads\" are started by "
            "dist::run_threads, which also makes their default group");
    return make_threads_groups(1, options.timeout).front();
}

std::string from_the_extra(const std::string& install) {
    return concat("call extras::use_all() in main; if the program does, install ",
                  install, " and configure again with the extra \"backends\" on");
}

std::vector<BackendEntry>& entries() {
    static std::vector<BackendEntry> all = {
        {"ring", &make_ring},
        {"threads", &make_threads},
        {"gloo", nullptr, from_the_extra("libgloo-dev")},
        {"mpi", nullptr, from_the_extra("libopenmpi-dev and openmpi-bin")},
        {"nccl", nullptr, from_the_extra("CUDA and NCCL, set MINI_CUDA=ON")},
    };
    return all;
}

}  // namespace

void register_backend(const std::string& name, MakeGroup make) {
    std::erase_if(entries(), [&](const auto& entry) { return entry.name == name; });
    entries().push_back({name, make});
}

const std::vector<BackendEntry>& known_backends() { return entries(); }

const BackendEntry& find_backend(const std::string& name) {
    const auto found = std::ranges::find(entries(), name, &BackendEntry::name);
    if (found != entries().end() && found->make) return *found;

    std::string available;
    for (const BackendEntry& entry : entries())
        if (entry.make) available += concat(available.empty() ? "" : ", ", entry.name);
    throw UsageError("init_process_group: this program has no backend \"", name, "\"",
                     found == entries().end() ? "" : concat(" (", found->why_not, ")"),
                     "; it has ", available);
}

}  // namespace mini::dist
