// A unit of FullyShardedDataParallel: parameters that are gathered and freed together.
//
//     parameters    w (3, 2)           b (3)        9 elements, on 2 ranks
//     flat          [ w  w  w  w  w    w  b  b  b   0 ]    while the unit is used
//     shards        [ rank 0: 5    ]  [ rank 1: 5     ]    always
//
//     gather        all-gather:        the shards     -> flat
//     reduction     reduce-scatter:    the gradients  -> grad() of each shard

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// Returns the number of elements of each of `ranks` equal shards of `numel` elements: the
/// last shards are filled up with zeros.
int64_t shard_numel(int64_t numel, int ranks);

/// One unit on this rank. FullyShardedDataParallel calls its functions, each on all ranks.
struct Unit {
    /// Moves the parameters, with rank 0's values, to `flat`, keeps this rank's part as
    /// `shard`, and frees `flat` and their gradients. Blocks until every rank has called it.
    void shard_parameters();

    /// Returns the view of this rank's part of a tensor of the shape of `flat`.
    Tensor own_part(const Tensor& tensor) const;

    /// Records kGatherLaunch, allocates `flat`, and starts its gather; does not block.
    /// Gives `flat` the version of the shard (Tensor::set_version): what autograd has saved
    /// is valid again if the shard is unchanged. Does nothing if `flat` has memory.
    void start_gather();

    /// Waits for the gather, and records kGatherDone; starts it if `flat` has no memory.
    /// Does nothing if it has been waited for.
    void finish_gather();

    /// Frees `flat` and records kUnitFree. A gather in flight writes to `flat`: finishes it
    /// first, with its kGatherDone. Does nothing if `flat` has no memory.
    void free();

    /// Makes `gradient`, filled with zeros, and lets all gradients be missing; does nothing
    /// if some are missing.
    void expect_gradients();

    /// Copies `value`, multiplied by 1 / world size, to the gradient of parameter k, which
    /// is no longer missing.
    void take_gradient(size_t k, const Tensor& value);

    /// Records kReduceLaunch, and starts the reduce-scatter of `gradient`; does not block.
    void start_reduction();

    /// Waits for the reduction, records kReduceDone, adds this rank's part of the sum to
    /// the shard's grad(), or sets it, and frees `gradient`. Does nothing if no reduction
    /// is in flight.
    void finish_reduction();

    /// Forgets the gradients of a backward pass that failed: none is missing, `gradient` and
    /// those of the parameters are undefined and have no memory, no reduction is in flight.
    /// The shard's grad() stays as it is.
    void drop_gradients();

    /// Records an event with the unit's index and the bytes of `flat`.
    void record(EventKind kind) const {
        group->events().record(kind, index, static_cast<int64_t>(flat.bytes()));
    }

    /// Throw Error, which names the rank, the unit and the parameters, unless the gradient
    /// of parameter k is missing; unless none is missing.
    void check_missing(size_t k) const;
    void check_complete() const;

    std::string text() const { return name.empty() ? "(the module itself)" : name; }

    std::string name;  // in named_modules(); "" for the module itself
    nn::Module* module;
    std::shared_ptr<dist::ProcessGroup> group;
    int64_t index = 0;                 // in FullyShardedDataParallel::units()
    nn::NamedTensors parameters = {};  // not those of units inside this one
    int64_t numel = 0;                 // without the zeros; shard_parameters() sets it
    Tensor flat = {};                  // has memory from start_gather() to free()
    std::vector<Tensor> views = {};    // of `flat`, by parameter: what the parameters are
    Tensor shard = {};                 // a leaf of one dimension that requires grad
    dist::WorkHandle gather = {};      // until it is waited for
    std::set<size_t> missing = {};     // parameters whose gradients are still to come
    Tensor gradient = {};              // of `flat`; undefined outside of a backward pass
    std::vector<Tensor> gradients = {};  // views of it, by parameter
    dist::WorkHandle reduction = {};     // until it is waited for
};

/// Returns the units of `module`, which are not sharded yet, in the order of
/// FullyShardedDataParallel::units(). Blocks until every rank has called it. Throws the
/// errors of FullyShardedDataParallel's constructor.
std::vector<Unit> find_units(nn::Module& module, const std::vector<std::string>& names,
                             const std::shared_ptr<dist::ProcessGroup>& group);

/// Calls `begin` before each forward pass of the unit's module, `end` with its result, and
/// `on_gradient` when parameter k has its gradient, until the returned object is destroyed.
std::shared_ptr<void> add_hooks(
    const Unit& unit, const std::function<void()>& begin,
    const std::function<void(const Tensor& y)>& end,
    const std::function<void(size_t k, const Tensor& parameter)>& on_gradient);

/// Calls `function` in each backward pass when the gradient of y is ready, before the
/// gradients of what y was computed from; no longer when `owner` has been destroyed.
void before_backward(const Tensor& y, const std::weak_ptr<void>& owner,
                     const std::function<void()>& function);

}  // namespace mini::parallel
