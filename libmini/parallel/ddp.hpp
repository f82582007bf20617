// DistributedDataParallel: a module that trains on all ranks as one.
//
// Each rank holds a replica and feeds it its own part of the batch. The replicas start
// alike, since rank 0's parameters are broadcast, and stay alike, since every backward()
// leaves the same averaged gradients on every rank.
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
/// their gradients are views of the buckets, which the next such pass overwrites: clone
/// what you want to keep.
class DistributedDataParallel : public ReplicatedModule, public Joinable {
  public:
    /// See ReplicatedModule. Blocks until every rank has come here. REQUIRES: `module`
    /// outlives this object.
    explicit DistributedDataParallel(nn::Module& module, const DDPOptions& options = {});

    /// Averages buckets by `hook` from now on. Throws UsageError after the first
    /// iteration, and the second time.
    void register_comm_hook(CommHook hook) { reducer_.set_comm_hook(std::move(hook)); }

    /// The buckets, in the order of their launch. They change once, before the second
    /// iteration.
    const std::vector<Bucket>& buckets() const { return reducer_.buckets(); }
    bool has_rebuilt_buckets() const { return reducer_.has_rebuilt_buckets(); }

    /// Within a Join, a rank without batches shadows the others' iterations with
    /// gradients that are zero, and ends with the model of the rank that trained longest.
    /// Meanwhile its gradients are the averages; then it has none. Sums are divided by
    /// the number of all ranks or, if that is wished, of those that are active;
    /// communication hooks divide by that of all ranks.
    std::unique_ptr<JoinHook> join_hook(const JoinOptions& options) override;
    dist::ProcessGroup& join_process_group() override { return group(); }

    /// The parameters' indices in the order of their gradients in the first iteration;
    /// empty before. Where all had one, rank 0's order decides how buckets are rebuilt,
    /// and so the order in which a ring adds: a run that is to continue elsewhere to the
    /// same bits needs it.
    std::vector<int64_t> gradient_order() const { return reducer_.gradient_order(); }

    /// Rebuilds the buckets at once, by another run's order, instead of learning it in
    /// the first iteration; every rank gives the same. Throws UsageError for anything but
    /// an order of the parameters, and after the first iteration.
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
