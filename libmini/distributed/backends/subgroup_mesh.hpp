// The mesh of a subgroup. Its members exchange their addresses in an all-gather over the
// parent group, so no store has to stay open.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Connects `ranks` of `parent`; returns std::nullopt on other ranks. Each member listens
/// on `local_host`. Every rank of `parent` must call it; blocks until all have. Throws as
/// connect_mesh does.
std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium = Medium::kAuto);

}  // namespace mini::dist
