// DistributedDataParallel: a module that trains on all ranks as one.
//
// Each rank holds a replica and feeds it its own part of the batch. The replicas start
// alike, since rank 0's parameters are broadcast, and stay alike, since every backward()
// leaves the same averaged gradients on every rank.

#pragma once

#include <memory>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/reducer.hpp"

namespace mini::parallel {

struct DDPOptions {
    /// Bucket sizes in bytes. Unlike PyTorch, whose first iteration uses one bucket for
    /// all and so overlaps nothing, these hold from the first iteration on.
    int64_t first_bucket_bytes = kFirstBucketBytes;
    int64_t bucket_cap_bytes = kBucketCapBytes;

    /// The default group when null.
    std::shared_ptr<dist::ProcessGroup> process_group = nullptr;
};

/// `torch.nn.parallel.DistributedDataParallel` (with gradient_as_bucket_view). The wrapped
/// module's parameters appear as "module.<name>". After a synchronised backward() their gradients
/// are views of the buckets, which the next such pass overwrites: clone what you want to keep.
class DistributedDataParallel : public nn::Module {
  public:
    /// Compares number and shapes of the parameters across ranks, then copies rank 0's
    /// parameters and buffers to all; blocks until every rank has come here. Parameters
    /// that do not require grad are left alone, shared ones counted once. Throws Error,
    /// the same on all ranks, naming rank and parameter that differ; UsageError when
    /// nothing requires grad. REQUIRES: `module` outlives this object.
    explicit DistributedDataParallel(nn::Module& module, const DDPOptions& options = {});

    /// The module's result; the next backward() then averages gradients, unless in no_sync.
    Tensor forward(const Tensor& x) override;

    /// While the returned object lives, gradients accumulate on each rank without
    /// communication; the first backward() after it, of a forward() after it, averages
    /// the accumulated sum (`no_sync`). Also ends properly when an exception passes.
    class [[nodiscard]] NoSync {
      public:
        explicit NoSync(bool& sync) : sync_(sync), previous_(sync) { sync_ = false; }
        ~NoSync() { sync_ = previous_; }
        NoSync(const NoSync&) = delete;
        NoSync& operator=(const NoSync&) = delete;

      private:
        bool& sync_;
        bool previous_;
    };
    NoSync no_sync() { return NoSync(sync_); }

    /// The buckets, in the order of their launch.
    const std::vector<Bucket>& buckets() const { return reducer_->buckets(); }

  private:
    nn::Module& module_;
    std::shared_ptr<dist::ProcessGroup> group_;
    std::unique_ptr<Reducer> reducer_;
    bool sync_ = true;
};

}  // namespace mini::parallel
