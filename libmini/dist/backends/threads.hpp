// Backend "threads": ranks are threads of one process.

#pragma once

#include <memory>
#include <vector>

#include "libmini/dist/transport_group.hpp"

namespace mini::dist {

/// One group, as each of its ranks sees it.
std::vector<std::shared_ptr<TransportGroup>> make_threads_groups(
    int world_size, std::chrono::milliseconds timeout);

}  // namespace mini::dist
