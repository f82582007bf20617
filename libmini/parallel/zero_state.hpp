// The state of a sharded optimizer: between ranks, and between the numbers of parameters in
// the unsharded optimizer and in a rank's own. With parameters 1 and 4 of all on rank 0:
//
//     unsharded     state.1.exp_avg    state.4.exp_avg
//     of rank 0     state.0.exp_avg    state.1.exp_avg

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/optimizer_state.hpp"

namespace mini::parallel {

/// Throws the errors of check_same_parameters(), which blocks, unless all ranks have the
/// same number of parameters and the same shapes; throws UsageError for a parameter other
/// than float32.
void check_shardable(dist::ProcessGroup& group, const std::vector<Tensor>& parameters);

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

/// Returns the state of all parameters on rank `to`, with the unsharded optimizer's names;
/// an empty state on other ranks. `local` is the state of this rank's own optimizer: its
/// parameter k is number indices[k] of all, or none of them if k >= indices.size(). Every
/// rank calls broadcast_state() once for each rank. A name that several ranks have, such
/// as "lr", has the value of rank `to` if possible. The tensors are copies. Blocks until
/// done; every rank must call it.
optim::OptimizerState collect_state(dist::ProcessGroup& group,
                                    const optim::OptimizerState& local,
                                    const std::vector<size_t>& indices, int to);

/// Returns the part of an unsharded optimizer's state that belongs to the parameters
/// indices[0], indices[1], ..., which get the numbers 0, 1, ...; other names stay. Throws
/// UsageError for a parameter whose number is not below `count`. The result shares its
/// tensors with `state`.
optim::OptimizerState own_state(const optim::OptimizerState& state,
                                const std::vector<size_t>& indices, size_t count);

}  // namespace mini::parallel
