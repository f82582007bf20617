// ZeRO, stage 1: every rank keeps the optimizer's state of a part of the parameters only.
//
//     parameters      fc1.w  fc1.b  fc2.w  fc2.b        all ranks have all of them,
//     gradients         *      *      *      *          averaged before
//     owner             0      1      1      1
//     step            [rank 0] [---- rank 1 ----]       each with state for its own
//     broadcast       <-- 0 -- --------- 1 ------>      new values to all
//
// With P ranks the state takes about 1/P of the memory, Adam's 2 floats per parameter
// become 2/P, and the arithmetic of step() is shared out likewise. The price is a
// broadcast of n floats per step, spread over P roots.
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

/// Builds the optimizer of a rank's own parameters: the same kind, with the same options,
/// on every rank.
using OptimizerFactory =
    std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor> parameters)>;

/// The owner of each parameter, given their numbers of elements: the largest first, each
/// to the rank that has least so far, the lowest such rank
/// (`ZeroRedundancyOptimizer._partition_parameters`). Some ranks may own nothing.
std::vector<int> partition_parameters(const std::vector<int64_t>& sizes, int world_size);

/// `torch.distributed.optim.ZeroRedundancyOptimizer`. Parameters end with the bits that
/// the plain optimizer would give them, provided that gradients are the same on all
/// ranks.
class ZeroRedundancyOptimizer : public optim::Optimizer, public Joinable {
  public:
    /// Compares number and shapes of the parameters across ranks; blocks until every
    /// rank has come here. Throws Error, the same on all ranks, naming rank and
    /// parameter that differ; UsageError for parameters other than float32. `group` is
    /// the default group when null.
    ZeroRedundancyOptimizer(std::vector<Tensor> parameters, const OptimizerFactory& make,
                            std::shared_ptr<dist::ProcessGroup> group = nullptr);

    /// Changes this rank's own parameters by their gradients, then takes the others from
    /// their owners; blocks until all are in. Every rank calls it. set_lr counts from
    /// here on.
    void step() override;

    /// Brings the state of all ranks to rank `to`; blocks, and every rank calls it
    /// (`consolidate_state_dict`). Each rank broadcasts its state, as in PyTorch, so every
    /// rank needs room for one more share. Throws UsageError when there is no such rank.
    void consolidate_state_dict(int to = 0);

    /// The state of all parameters, as the plain optimizer would have it. Throws Error
    /// unless it was consolidated on this rank since the last step.
    optim::OptimizerState state_dict() const override;

    /// Takes this rank's part of such a state, whether it is from the plain optimizer or from
    /// a different number of ranks; every rank calls it with the same one. Throws UsageError
    /// for a parameter that there is not, and what the rank's optimizer throws.
    void load_state_dict(const optim::OptimizerState& state) override;

    /// The owner of each parameter, and what this rank remembers of its own.
    const std::vector<int>& owners() const { return owners_; }
    const optim::Optimizer& local_optimizer() const { return *local_; }

    /// A joined rank goes on updating and sending its own parameters, with its own
    /// learning rate. REQUIRES: the joinable before it leaves averaged gradients on joined
    /// ranks too, as DistributedDataParallel does; every iteration that it counts has one
    /// step(), so none of them is within no_sync.
    std::unique_ptr<JoinHook> join_hook(const JoinOptions& options) override;
    dist::ProcessGroup& join_process_group() override { return *group_; }

  private:
    void step_and_share();
    std::vector<size_t> places_of(int rank) const;
    optim::OptimizerState local_state() const;

    std::shared_ptr<dist::ProcessGroup> group_;
    std::vector<int> owners_;                            // of each parameter
    std::unique_ptr<optim::Optimizer> local_;            // of this rank's own
    std::optional<optim::OptimizerState> consolidated_;  // since the last step
};

}  // namespace mini::parallel
