#include "libmini/distributed/launch/default_group.hpp"

#include <algorithm>
#include <optional>

#include "libmini/core/world.hpp"
#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/net/deadline.hpp"

namespace mini::dist {
namespace {

// Thread-local, because the ranks of run_threads are threads of one process, and each
// rank has its own default group.
thread_local std::shared_ptr<ProcessGroup> this_rank_group;

}  // namespace

bool is_available(const std::string& backend) {
    return std::ranges::any_of(known_backends(), [&](const BackendEntry& entry) {
        return entry.name == backend && entry.why_not.empty();
    });
}

std::shared_ptr<ProcessGroup> init_process_group(InitOptions options) {
    MINI_CHECK(!is_initialized(),
               "trying to initialize the default process group twice; call "
               "destroy_process_group first");
    const BackendEntry& backend = find_backend(options.backend);
    if (options.timeout.count() <= 0)
        throw UsageError(concat("init_process_group: the timeout is ",
                                seconds_text(options.timeout), "; it must be positive"));
    set_default_group(backend.make(options));
    return this_rank_group;
}

bool is_initialized() { return this_rank_group != nullptr; }

std::shared_ptr<ProcessGroup> default_group() {
    MINI_CHECK(
        is_initialized(),
        "default process group has not been initialized; call init_process_group first");
    return this_rank_group;
}

void set_default_group(std::shared_ptr<ProcessGroup> group) {
    this_rank_group = std::move(group);
    set_current_world(this_rank_group
                          ? std::optional(World{.rank = this_rank_group->rank(),
                                                .size = this_rank_group->world_size()})
                          : std::nullopt);
}

int get_rank() { return default_group()->rank(); }

int get_world_size() { return default_group()->world_size(); }

std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) {
    return default_group()->new_group(ranks);
}

void destroy_process_group() {
    const auto group = default_group();
    set_default_group(nullptr);  // even if shutdown() throws
    group->shutdown();
}

}  // namespace mini::dist
