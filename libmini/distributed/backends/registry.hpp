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
    std::string why_not;  // "" if this build has the backend; else how to install it
    std::shared_ptr<ProcessGroup> (*make)(const InitOptions& options);
};

/// Returns all backends, including the backends that this build does not have.
const std::vector<BackendEntry>& known_backends();

/// Returns the backend `name`. Throws UsageError if this build does not have that
/// backend; the message lists the backends that this build has and, if `name` is a known
/// backend, how to install it.
const BackendEntry& find_backend(const std::string& name);

}  // namespace mini::dist
