// Moves optimizer state between ranks: broadcasts the state, and converts a parameter's
// index in the unsharded optimizer to its index in the owner's optimizer, and back.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/optimizer_state.hpp"

namespace mini::parallel {

/// Returns a copy of rank `from`'s state on every rank, with its tensors on the CPU.
/// Sends a text with all names and numbers, then one tensor after another. Blocks
/// until done. Every rank must call it; ranks other than `from` ignore `state`.
optim::OptimizerState broadcast_state(dist::ProcessGroup& group,
                                      const optim::OptimizerState& state, int from);

/// Returns the state with each name "state.N...." changed to "state.M....", with M =
/// new_number(N); leaves an entry out if new_number(N) is std::nullopt. Names without the
/// prefix "state." do not change. The result shares its tensors with `state`.
optim::OptimizerState renumbered(
    const optim::OptimizerState& state,
    const std::function<std::optional<size_t>(size_t number)>& new_number);

}  // namespace mini::parallel
