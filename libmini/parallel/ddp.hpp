// DistributedDataParallel: trains one module on all ranks.
//
// Each rank trains a replica on its own part of each batch. Every backward() leaves the same
// averaged gradients on every rank, so the replicas stay identical.
//
//     DistributedDataParallel ddp(model, {.bucket_cap_mb = 1});
//     optim::SGD optimizer(model.parameters(), {.lr = 0.01});
//     for (const data::Batch& batch : loader) {
//         optimizer.zero_grad();
//         cross_entropy(ddp(batch.data), batch.target).backward();
//         optimizer.step();
//     }

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/parallel/ddp_options.hpp"
#include "libmini/parallel/join.hpp"
#include "libmini/parallel/reducer.hpp"
#include "libmini/parallel/replicated_module.hpp"

namespace mini::parallel {

/// `torch.nn.parallel.DistributedDataParallel` with gradient_as_bucket_view = True. The
/// wrapped module's parameters appear as "module.<name>". After a backward() outside of
/// no_sync, the parameters' gradients are views of the buckets. The next such backward()
/// overwrites the buckets: clone the gradients that you want to keep.
class DistributedDataParallel : public ReplicatedModule, public Joinable {
  public:
    /// See ReplicatedModule; blocks until every rank has called this constructor. Throws
    /// UsageError for bucket sizes below one byte. REQUIRES: `module` outlives this
    /// object.
    explicit DistributedDataParallel(nn::Module& module, const DDPOptions& options = {});

    /// Averages buckets with `hook` from now on. Throws UsageError if `hook` is empty, if a
    /// hook is already registered, or if the first backward() that averages has begun.
    void register_comm_hook(CommHook hook);

    /// Returns the buckets, in launch order. The buckets are rebuilt once, before the
    /// second iteration, unless find_unused_parameters is set and static_graph is not.
    const std::vector<Bucket>& buckets() const { return reducer_.buckets().all(); }
    bool has_rebuilt_buckets() const { return reducer_.buckets().is_rebuilt(); }

    /// Returns the hook for one Join. A rank without batches shadows the other ranks'
    /// iterations with zero gradients, and ends with the model of the rank that trained
    /// longest. During the shadowed iterations this rank's gradients are the averages;
    /// after the Join this rank's gradients are undefined. Gradient sums are divided by
    /// the world size or, without divide_by_initial_world_size, by the number of active
    /// ranks; communication hooks always divide by the world size. A Join may have several
    /// such modules.
    JoinHook join_hook(const JoinOptions& options) override;
    dist::ProcessGroup& join_process_group() override { return group(); }

    /// Returns the parameters' indices in the order in which their gradients became ready
    /// in the first iteration, those without one at the end; an empty vector before. Rebuilt
    /// buckets follow rank 0's order, which also decides the order in which a ring adds the
    /// ranks' values: a resumed run must set this order to stay bitwise identical.
    std::vector<int64_t> gradient_order() const { return reducer_.buckets().order(); }

    /// Sets the order to `order`, the gradient_order() of an earlier run, instead of
    /// learning the order in the first iteration; rebuilds the buckets immediately, if
    /// they may be rebuilt. Every rank must pass the same order. Throws UsageError if
    /// `order` is not a permutation of the parameters' indices, or if the first
    /// backward() that averages has begun.
    void set_gradient_order(const std::vector<int64_t>& order) {
        reducer_.buckets().set_order(order);
    }

  protected:
    int begin_iteration(bool sends_buffers, bool averages) override;
    void prepare_for_forward() override { reducer_.prepare_for_forward(); }
    void prepare_for_backward(const Tensor& output) override {
        reducer_.prepare_for_backward(output);
    }
    bool averages_next() const override { return reducer_.averages_next(); }

  private:
    void divide_by_active_ranks();
    bool shadow_iteration();

    Reducer reducer_;
    bool has_comm_hook_ = false;
    bool divides_by_active_ = false;  // in a Join without divide_by_initial_world_size
};

}  // namespace mini::parallel
