// DistributedDataParallel: trains one module on all ranks.
//
// Each rank holds a replica and feeds it its own part of the batch. The replicas start
// identical, since rank 0's parameters are broadcast, and stay identical, since every
// backward() leaves the same averaged gradients on every rank.
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
#include <memory>
#include <vector>

#include "libmini/parallel/ddp_options.hpp"
#include "libmini/parallel/join.hpp"
#include "libmini/parallel/reducer.hpp"
#include "libmini/parallel/replicated_module.hpp"

namespace mini::parallel {

/// `torch.nn.parallel.DistributedDataParallel` (with gradient_as_bucket_view). The
/// wrapped module's parameters appear as "module.<name>". After a synchronised backward()
/// their gradients are views of the buckets, and the next synchronised backward()
/// overwrites them: clone the gradients that you want to keep.
class DistributedDataParallel : public ReplicatedModule, public Joinable {
  public:
    /// See ReplicatedModule. Blocks until every rank has called it. REQUIRES: `module`
    /// outlives this object.
    explicit DistributedDataParallel(nn::Module& module, const DDPOptions& options = {});

    /// Averages buckets with `hook` from now on. Throws UsageError after the first
    /// iteration, and when called a second time.
    void register_comm_hook(CommHook hook) { reducer_.set_comm_hook(std::move(hook)); }

    /// The buckets, in launch order. They are rebuilt once, before the second iteration.
    const std::vector<Bucket>& buckets() const { return reducer_.buckets(); }
    bool has_rebuilt_buckets() const { return reducer_.has_rebuilt_buckets(); }

    /// Within a Join, a rank without batches shadows the other ranks' iterations with
    /// zero gradients, and ends with the model of the rank that trained longest. During
    /// the shadowed iterations its gradients are the averages; afterwards they are
    /// undefined. Sums are divided by the world size or, without
    /// divide_by_initial_world_size, by the number of active ranks; communication hooks
    /// always divide by the world size.
    std::unique_ptr<JoinHook> join_hook(const JoinOptions& options) override;
    dist::ProcessGroup& join_process_group() override { return group(); }

    /// The parameters' indices in the order in which their gradients became ready in the
    /// first iteration; empty before. If buckets are rebuilt, rank 0's order decides
    /// their contents, and so the order in which a ring adds: a resumed run needs it to
    /// stay bitwise identical.
    std::vector<int64_t> gradient_order() const { return reducer_.gradient_order(); }

    /// Rebuilds the buckets immediately, in another run's order, instead of learning the
    /// order in the first iteration; every rank must pass the same order. Throws
    /// UsageError when `order` is not a permutation of the parameters' indices, and after
    /// the first iteration.
    void set_gradient_order(const std::vector<int64_t>& order) {
        reducer_.set_gradient_order(order);
    }

  protected:
    int begin_iteration(bool sends_buffers, bool averages) override;
    void prepare_for_forward() override { reducer_.prepare_for_forward(); }
    void prepare_for_backward(const Tensor& output) override {
        reducer_.prepare_for_backward(output);
    }

  private:
    class Hook;

    Reducer reducer_;
    bool divides_by_active_ = false;  // within a Join
};

}  // namespace mini::parallel
