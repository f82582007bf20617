// FullyShardedDataParallel: every rank keeps only a part of the parameters, of their
// gradients and of the optimizer's state.
//
//     forward       gather 0  compute 0  free 0
//                             gather 1   compute 1  free 1
//     backward                               gather 1  compute 1  free 1  reduce-scatter 1
//                                                      gather 0   compute 0  free 0  ...
//
// With P ranks a rank keeps 1/P of everything, and while it computes one unit, this unit
// and the next one whole. The price: a rank sends 3 (P-1)/P of the parameters in each step,
// two gathers and a reduce-scatter; an all-reduce sends 2 (P-1)/P.
//
//     FullyShardedDataParallel fsdp(model, {"wte", "h.0", "h.1", "lm_head"});
//     optim::Adam optimizer(fsdp.shards(), {.lr = 0.001});
//     for (const data::Batch& batch : loader) {
//         optimizer.zero_grad();
//         cross_entropy(fsdp(batch.data), batch.target).backward();
//         optimizer.step();
//     }
//
// Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter
// Models, stage 3; Zhao et al. 2023, PyTorch FSDP.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/optim/optimizer_state.hpp"
#include "libmini/parallel/fsdp_unit.hpp"

namespace mini::parallel {

/// Returns shard `rank` of `ranks` of the flat parameter of `numel` elements whose shards,
/// for another number of ranks, are `shards`: a new tensor, with zeros for their padding.
/// REQUIRES: all shards have shard_numel(numel, shards.size()) elements.
Tensor reshard(const std::vector<Tensor>& shards, int64_t numel, int rank, int ranks);

struct FSDPOptions {
    std::shared_ptr<dist::ProcessGroup> process_group =
        nullptr;           // null: the default group
    bool prefetch = true;  // gather the next unit while the current one computes
};

/// `torch.distributed.fsdp.FullyShardedDataParallel`; a unit is what one call of
/// `fully_shard` makes. Each forward pass is that of the unsharded module, and the gradients
/// are averaged over the ranks. In the module, a parameter has values only from the start to
/// the end of a forward or backward pass of its unit; at other times its memory is freed,
/// and reading it throws Error. Its grad() is undefined: the average is the gradient of a
/// shard.
///
/// - Forward. Before the forward pass of a unit its flat parameter is gathered; after it,
///   freed. The next unit is the one that came next in the last forward pass, as long as the
///   calls of this pass are the same; its gather is started after the unit's own, before the
///   unit computes.
/// - Backward. The flat parameter is gathered again when the gradient of the unit's
///   result is ready; then the gather of the unit whose forward pass ended before its
///   own, in the same forward pass, is started. When all its parameters have their
///   gradients, the parameter is freed, and the reduce-scatter of the gradients is
///   started, each multiplied by 1 / world size before the sum. It is waited for when the
///   next unit's is due, or at the end of the pass. Then the sum is added to the shard's
///   grad().
/// - Memory. At most two units are gathered at a time, and besides them those that enclose
///   the current unit, or that a backward pass has not left; and at most two units' flat
///   gradients exist. After forward() and after backward() nothing is gathered.
/// - Events. kForwardBegin and kForwardEnd, around the module's forward pass, in eval mode
///   too; and those of each unit (fsdp_unit.hpp).
/// - Submodule. The module is the submodule "module": train() and eval() reach it.
/// - Error. backward() throws if a step has changed the shards since forward(). After a
///   backward() that threw, some shards have its gradients, and some have not; the next
///   forward() and backward() are as if it had not been called.
/// - Life. A result may outlive this object. Its backward() then calls no function of this
///   object, and throws Error where it reads a parameter, which is freed.
class FullyShardedDataParallel : public nn::Module {
  public:
    /// Shards `module`. `units` are names of submodules (named_modules()); a parameter
    /// belongs to the innermost unit that contains it, and those in no unit belong to the
    /// unit of `module` itself, named "". Broadcasts rank 0's parameters and buffers. Blocks
    /// until every rank has called it. Throws UsageError, which names the rank, for a name
    /// that is not a submodule's, a unit without parameters of its own, a parameter in two
    /// units of which none contains the other, a parameter that is frozen or that another
    /// wrapper averages; and Error, on all ranks, if the ranks' parameters differ.
    /// REQUIRES: `module` outlives this object, and is not used after it.
    FullyShardedDataParallel(nn::Module& module, const std::vector<std::string>& units,
                             const FSDPOptions& options = {});

    /// Returns the module's result for `x`. Every rank must call it, and backward() as often.
    /// A unit whose result took no part in the loss gets no gradient, as if it had not been
    /// called. backward() throws Error, which names the rank, the unit and the parameters, if
    /// a unit's result took part in the loss without one of the unit's parameters, or such a
    /// parameter without the result. REQUIRES: not called by a backward pass.
    Tensor forward(const Tensor& x) override;

    /// Returns the names of the units: the module's own first, if it has one, then in the
    /// constructor's order.
    std::vector<std::string> units() const;

    /// Returns the parameters of the optimizer: this rank's shard of each unit, a leaf of one
    /// dimension with shard_numel() elements. An element of the padding stays 0 if the
    /// optimizer leaves a 0 with gradient 0 unchanged.
    std::vector<Tensor> shards() const;

    /// Returns on rank `to` copies of what module.state_dict() has before it is sharded; an
    /// empty list on other ranks. Every rank must call it; gathers one unit at a time.
    nn::NamedTensors full_state_dict(int to = 0);

    /// Copies this rank's part of a full state to the shards, and the buffers. Every rank
    /// passes the same state; all units are in memory meanwhile. Throws the errors of
    /// Module::load_state_dict; this object is then unchanged.
    void load_full_state_dict(const nn::NamedTensors& state);

    /// Returns this rank's shards, by the names of their units, then the buffers. The
    /// tensors share storage. Nothing is sent.
    nn::NamedTensors sharded_state_dict() const;

    /// Loads the sharded states that the ranks of a job had, by their ranks; their number may
    /// be another than that of this group. Nothing is sent. Throws UsageError, which names
    /// this rank and the unit, if a shard is missing or has another size; nothing is
    /// changed then.
    void load_sharded_state_dict(const std::vector<nn::NamedTensors>& by_rank);

    /// Returns the state of this rank's optimizer of shards() from the states that the ranks
    /// of a job had, by their ranks: the tensors are resharded, the numbers are those of rank
    /// 0. Throws as load_sharded_state_dict().
    optim::OptimizerState reshard_optimizer_state(
        const std::vector<optim::OptimizerState>& by_rank) const;

  private:
    struct Impl;  // fsdp.cpp defines it
    nn::Module& module_;
    std::shared_ptr<dist::ProcessGroup> group_;
    std::vector<Unit> units_;
    std::shared_ptr<Impl> impl_;
};

}  // namespace mini::parallel
