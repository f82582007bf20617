// The registry of backends, from which init_process_group chooses.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/init_options.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

struct BackendEntry {
    std::string name;
    std::string why_not;  // "" when this build has it; else how to install it
    std::shared_ptr<ProcessGroup> (*make)(const InitOptions& options);
};

/// Returns all backends, including those that this build lacks.
const std::vector<BackendEntry>& known_backends();

/// Returns the backend `name`. Throws UsageError if this build does not have it, listing
/// the backends that it has and, for a known backend, how to install it.
const BackendEntry& find_backend(const std::string& name);

}  // namespace mini::dist
