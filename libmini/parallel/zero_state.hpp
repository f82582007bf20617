// Moves optimizer state between ranks: broadcasts it, and renumbers its parameters
// between the numbering of the unsharded optimizer and the numbering of their owner.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/optimizer_state.hpp"

namespace mini::parallel {

/// Returns a copy of rank `from`'s state on every rank, with its tensors on the CPU.
/// Broadcasts a text with all names and numbers, then one tensor after another. Blocks
/// until done; every rank must call it. `state` is ignored on the other ranks.
optim::OptimizerState broadcast_state(dist::ProcessGroup& group,
                                      const optim::OptimizerState& state, int from);

/// Returns the state with each "state.N...." renamed to "state.M....", where M is
/// new_number(N); leaves the entry out if new_number(N) is std::nullopt. Names without
/// the prefix "state." do not change. Tensors are shared.
optim::OptimizerState renumbered(
    const optim::OptimizerState& state,
    const std::function<std::optional<size_t>(size_t number)>& new_number);

}  // namespace mini::parallel
