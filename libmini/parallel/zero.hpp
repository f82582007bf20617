// ZeRO, stage 1: every rank keeps the optimizer state of only a part of the parameters.
//
//     parameters      fc1.w  fc1.b  fc2.w  fc2.b        on all ranks
//     gradients         *      *      *      *          on all ranks, already averaged
//     owner             0      1      1      1
//     step            [rank 0] [---- rank 1 ----]       each rank has its own state
//     broadcast       <-- 0 -- --------- 1 ------>      new values to all ranks
//
// With P ranks the state takes about 1/P of the memory on each rank: Adam's 2 floats per
// parameter become 2/P. The arithmetic of step() is divided in the same way. The cost:
// each step broadcasts the n floats of the parameters, from P roots.
//
// Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter
// Models.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/join.hpp"

namespace mini::parallel {

/// Builds the optimizer of a rank's own parameters. The optimizer must have the same type
/// and the same options on every rank.
using OptimizerFactory =
    std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor> parameters)>;

/// Returns the owner of each parameter; parameter i has sizes[i] elements. Assigns the
/// parameters from the largest to the smallest, each to the rank with the fewest elements
/// so far, the lowest rank on a tie (`ZeroRedundancyOptimizer._partition_parameters`).
/// Some ranks may own no parameter.
std::vector<int> partition_parameters(const std::vector<int64_t>& sizes, int world_size);

/// `torch.distributed.optim.ZeroRedundancyOptimizer`. The updated parameters are bitwise
/// identical to those of the unsharded optimizer, provided that gradients are the same on
/// all ranks.
class ZeroRedundancyOptimizer : public optim::Optimizer, public Joinable {
  public:
    /// Builds this rank's own optimizer, whose learning rate lr() has then: `make` gets the
    /// parameters that this rank owns, in the order of `parameters`, or one tensor of one
    /// element if it owns none. Throws the errors of check_shardable(), which blocks, and
    /// Error if `make` returns null. A null `group` means the default group. REQUIRES: the
    /// parameters have the same order on all ranks, which a wrapper of their module has
    /// checked by their names.
    ZeroRedundancyOptimizer(std::vector<Tensor> parameters, const OptimizerFactory& make,
                            std::shared_ptr<dist::ProcessGroup> group = nullptr);

    /// Calls update_and_share(), as an iteration of the Join that runs, if one does.
    void step() override {
        Join::notify_join_context(*this);
        update_and_share();
    }

    /// Updates this rank's own parameters, with the learning rate lr(), then receives the
    /// other parameters from their owners; blocks until all parameters have arrived. Every
    /// rank must call it. In the order of the ranks, each owner of elements broadcasts one
    /// buffer with all its parameters. A broadcast starts before the previous one is waited
    /// for, but after the buffer before that is freed: at most two at a time. One rank
    /// sends nothing. The parameters keep their memory; they are written as by ops::copy_.
    void update_and_share();

    /// Collects the state of all ranks on rank `to` (`consolidate_state_dict`) by
    /// collect_state(); blocks until done. Every rank must call it. The learning rate is
    /// lr() of rank `to`. Throws UsageError for an invalid rank.
    void consolidate_state_dict(int to = 0);

    /// Returns the state of all parameters, as the unsharded optimizer would; its tensors
    /// are copies, which later steps do not change. Throws Error unless
    /// consolidate_state_dict() has collected the state on this rank since the last
    /// step() or successful load_state_dict().
    optim::OptimizerState state_dict() const override;

    /// Loads this rank's part of a full state (own_state()), which may come from the
    /// unsharded optimizer or from a different number of ranks; every rank must pass the
    /// same state. lr() is then the state's. Throws the errors of own_state() and of the
    /// rank's own optimizer; this optimizer is then unchanged.
    void load_state_dict(const optim::OptimizerState& state) override;

    /// Returns the owner of each parameter, by partition_parameters().
    const std::vector<int>& owners() const;

    /// Returns the optimizer of this rank's own parameters.
    const optim::Optimizer& local_optimizer() const;

    /// Returns the hook for one Join: a joined rank continues to update and broadcast its
    /// own parameters, with its own learning rate. REQUIRES: an earlier joinable of the
    /// Join, such as DistributedDataParallel, leaves averaged gradients on joined ranks
    /// too; and every iteration that the Join counts has exactly one step(), so no
    /// iteration is within no_sync.
    JoinHook join_hook(const JoinOptions&) override {
        return {.main_hook = [this] { update_and_share(); }};
    }
    dist::ProcessGroup& join_process_group() override;

  private:
    struct Impl;  // zero.cpp defines it; a shared_ptr needs no destructor here
    std::shared_ptr<Impl> impl_;
};

}  // namespace mini::parallel
