// The mesh of a subgroup. The members exchange their addresses by an all-gather in the
// parent group, so no store has to stay open.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Connects `ranks` of `parent`; returns the mesh, or std::nullopt on other ranks. Each
/// member listens on its `local_host`. Every rank of `parent` must call this function;
/// blocks until all have, and a member until it is connected. Throws as connect_mesh
/// does.
std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium = Medium::kAuto);

}  // namespace mini::dist
