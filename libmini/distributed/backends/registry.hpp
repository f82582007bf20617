// The registry of backends, from which init_process_group chooses. The core registers
// "ring" and "threads"; libmini/extras/backends registers the backends over third-party
// libraries.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/init_options.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

using MakeGroup = std::shared_ptr<ProcessGroup> (*)(const InitOptions& options);

struct BackendEntry {
    std::string name;
    MakeGroup make = nullptr;  // null: not registered
    std::string why_not = "";  // "" if the backend is registered; else how to get it
};

/// Makes `make` the function that creates groups of backend `name`. Call it in main,
/// before the first group.
void register_backend(const std::string& name, MakeGroup make);

/// Returns the registered backends, and those that libmini has but this program has not
/// registered.
const std::vector<BackendEntry>& known_backends();

/// Returns the backend `name`. Throws UsageError if it is not registered; the message
/// lists the registered backends and, if `name` is a known backend, how to get it.
const BackendEntry& find_backend(const std::string& name);

}  // namespace mini::dist
