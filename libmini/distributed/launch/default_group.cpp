#include "libmini/distributed/launch/default_group.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::dist {

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
        throw UsageError("init_process_group: the timeout is ",
                         seconds_text(options.timeout), "; it must be positive");
    set_default_group(backend.make(options));
    return default_group();
}

int get_local_rank() {
    const auto found = read_rank_variables();
    if (!found) return 0;
    if (found->local_rank < 0)
        throw UsageError(found->source + " does not set LOCAL_RANK; set it on each rank");
    return found->local_rank;
}

ProcessGroupGuard::~ProcessGroupGuard() {
    if (!is_initialized() || default_group() != group_) return;
    try {
        if (std::uncaught_exceptions() > exceptions_)
            set_default_group(nullptr);
        else
            destroy_process_group();
    } catch (const std::exception& error) {
        logging::warning("process group: ", error.what());
    }
}

}  // namespace mini::dist
