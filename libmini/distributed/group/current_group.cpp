#include "libmini/distributed/group/current_group.hpp"

#include <optional>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/world.hpp"

namespace mini::dist {
namespace {

thread_local std::shared_ptr<ProcessGroup> this_rank_group;

}  // namespace

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
