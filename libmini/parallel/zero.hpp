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
#include <optional>
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
    /// Compares the number and shapes of the parameters across ranks; blocks until every
    /// rank has called this constructor. Throws Error, on all ranks, naming the rank and
    /// the parameter that differ; throws UsageError for parameters other than float32. A
    /// null `group` means the default group. REQUIRES: the parameters have the same order
    /// on all ranks, which a wrapper of their module has checked by their names.
    ZeroRedundancyOptimizer(std::vector<Tensor> parameters, const OptimizerFactory& make,
                            std::shared_ptr<dist::ProcessGroup> group = nullptr);

    /// Updates this rank's own parameters, with the learning rate of the last set_lr(),
    /// then receives the other parameters from their owners; blocks until all parameters
    /// have arrived. Every rank must call it. Holds at most two owners' parameters in
    /// buffers at a time. On one rank it sends nothing.
    void step() override;

    /// Collects the state of all ranks on rank `to` (`consolidate_state_dict`); blocks
    /// until done. Every rank must call it. One rank after the other broadcasts its part
    /// of the state, as in PyTorch, so every rank needs memory for one more part. An
    /// option that ranks disagree about, such as the learning rate, gets the value of
    /// rank `to`. Throws UsageError for an invalid rank.
    void consolidate_state_dict(int to = 0);

    /// Returns the state of all parameters, as the unsharded optimizer would; its tensors
    /// are copies, which later steps do not change. Throws Error unless
    /// consolidate_state_dict() has collected the state on this rank since the last
    /// step() or successful load_state_dict().
    optim::OptimizerState state_dict() const override;

    /// Loads this rank's part of a full state, which may come from the unsharded
    /// optimizer or from a different number of ranks; every rank must pass the same
    /// state. Throws UsageError for the index of a parameter that does not exist, and the
    /// errors of the rank's optimizer; this optimizer is then unchanged.
    void load_state_dict(const optim::OptimizerState& state) override;

    /// Returns the owner of each parameter.
    const std::vector<int>& owners() const { return owners_; }

    /// Returns the optimizer of this rank's own parameters.
    const optim::Optimizer& local_optimizer() const { return *local_; }

    /// Returns the hook for one Join: a joined rank continues to update and broadcast its
    /// own parameters, with its own learning rate. REQUIRES: an earlier joinable of the
    /// Join, such as DistributedDataParallel, leaves averaged gradients on joined ranks
    /// too; and every iteration that the Join counts has exactly one step(), so no
    /// iteration is within no_sync.
    JoinHook join_hook(const JoinOptions& options) override;
    dist::ProcessGroup& join_process_group() override { return *group_; }

  private:
    void step_and_share();

    // Returns the indices of the parameters of `rank`, in increasing order. Parameter k
    // of its local_ is parameters_[indices_of(rank)[k]].
    std::vector<size_t> indices_of(int rank) const;

    // Returns the state of local_; each name has the parameter's index in parameters_. A
    // rank that owns no parameter has a dummy parameter in local_, which is left out.
    optim::OptimizerState local_state() const;

    // Throws UsageError if there is no parameter with this index.
    void check_exists(size_t number) const;

    std::shared_ptr<dist::ProcessGroup> group_;
    std::vector<int> owners_;                            // one per parameter
    std::unique_ptr<optim::Optimizer> local_;            // of this rank's own parameters
    std::optional<optim::OptimizerState> consolidated_;  // since the last step
};

}  // namespace mini::parallel
