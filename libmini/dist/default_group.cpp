#include "libmini/dist/default_group.hpp"

#include <cstdlib>

#include "libmini/core/world.hpp"
#include "libmini/dist/backends/ring.hpp"
#include "libmini/dist/backends/threads.hpp"

namespace mini::dist {
namespace {

// The default group belongs to the rank, and a rank is a thread or a process with one
// main thread: so it is a thread's.
thread_local std::shared_ptr<ProcessGroup> this_rank_group;

// A group of one can be made anywhere; more ranks need threads that run_threads starts.
std::shared_ptr<ProcessGroup> make_lonely_group(const InitOptions& options) {
    if (options.world_size > 1 || options.rank > 0)
        throw UsageError(
            "init_process_group: the ranks of backend \"threads\" are started by "
            "dist::run_threads, which also makes their default group");
    return make_threads_groups(1, options.timeout).front();
}

std::string link_of(const InitOptions& options) {
    const char* const variable = std::getenv("MINI_LINK");
    return options.link.empty() && variable != nullptr ? variable : options.link;
}

}  // namespace

bool is_available(const std::string& backend) {
    return backend == "ring" || backend == "threads";
}

std::shared_ptr<ProcessGroup> init_process_group(InitOptions options) {
    MINI_CHECK(!is_initialized(),
               "trying to initialize the default process group twice; call "
               "destroy_process_group first");
    if (!is_available(options.backend))
        throw UsageError(concat("init_process_group: this build has no backend \"",
                                options.backend, "\"; it has ring and threads"));
    if (options.timeout.count() <= 0)
        throw UsageError(concat("init_process_group: the timeout is ",
                                seconds_text(options.timeout), "; it must be positive"));
    if (options.backend == "threads")
        set_default_group(make_lonely_group(options));
    else
        set_default_group(make_ring_group(
            plan_meeting(options.init_method, options.rank, options.world_size),
            options.medium, options.timeout, link_of(options)));
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
    default_group()->shutdown();
    set_default_group(nullptr);
}

}  // namespace mini::dist
