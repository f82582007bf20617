// Subgroups: how some of a group's ranks get connections of their own
// (`torch.distributed.new_group`).
//
// The group that exists carries the addresses: whoever is to be a member shows its own in
// an all-gather over all ranks, so no store has to stay open for it.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/dist/backend.hpp"
#include "libmini/dist/mesh.hpp"
#include "libmini/dist/process_group.hpp"

namespace mini::dist {

/// This rank of `parent`'s number among `ranks`; -1 when it is not one of them.
int place_among(const std::vector<int>& ranks, const ProcessGroup& parent);

/// Connects `ranks` of `parent`, whose addresses travel through it; nothing on ranks that
/// are not among them. Every rank of `parent` calls it; blocks until all have.
std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium = Medium::kAuto,
                                    const ChannelLayer& layer = {});

/// Makes the backend among `ranks` of `parent`, in their order; null on ranks that are
/// not among them. Called on every rank of `parent`; blocks until all have called.
using Splitter = std::function<std::unique_ptr<Backend>(const std::vector<int>& ranks,
                                                        ProcessGroup& parent)>;

/// For backend "ring": each member listens at `local_host` and connects to the others.
Splitter make_ring_splitter(const Cookie& cookie, const std::string& local_host,
                            Medium medium, const ChannelLayer& layer);

/// For backend "threads": the first member makes the connections of all.
Splitter make_threads_splitter();

/// Checks the ranks that a new group is to have: in range, each once, the same list on
/// every rank of `parent`, which must all call this. Throws UsageError, on all alike.
void check_subgroup(const std::vector<int>& ranks, ProcessGroup& parent);

}  // namespace mini::dist
