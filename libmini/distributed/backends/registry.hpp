// The backends that there are: what init_process_group chooses from.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/init_options.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

struct BackendEntry {
    std::string name;
    std::string why_not;  // "" when this build has it; else how to get it
    std::shared_ptr<ProcessGroup> (*make)(const InitOptions& options);
};

/// All backends, also those that this build lacks.
const std::vector<BackendEntry>& known_backends();

/// The one of that name. Throws UsageError for one that this build does not have, naming
/// those that it has and, if it is known, how to get it.
const BackendEntry& find_backend(const std::string& name);

}  // namespace mini::dist
