// An optimizer's state on its way between ranks: broadcast whole, and with parameters
// numbered as the plain optimizer numbers them or as their owner does.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/optimizer_state.hpp"

namespace mini::parallel {

/// A copy of rank `from`'s state, on every rank and on the CPU: a text with all names and
/// numbers is broadcast, then tensor after tensor. Blocks until done; every rank calls it.
/// `state` is ignored on the other ranks.
optim::OptimizerState broadcast_state(dist::ProcessGroup& group,
                                      const optim::OptimizerState& state, int from);

/// The state with each "state.N...." renamed "state.M....", M being new_number(N), and
/// left out where there is none; names without a number stay. Tensors are shared.
optim::OptimizerState renumbered(
    const optim::OptimizerState& state,
    const std::function<std::optional<size_t>(size_t number)>& new_number);

}  // namespace mini::parallel
