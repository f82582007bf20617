// DataParallel: one process, several devices, one module.
//
//     x ─ scatter ─┬─ chunk 0 ─► the module       cpu   ─┐
//                  ├─ chunk 1 ─► replica 1        cpu:1 ─┼─ gather ─► y
//                  └─ chunk 2 ─► replica 2        cpu:2 ─┘
//
// The loss is computed of y, on one device, and so is that of the whole batch: its mean
// is exact however uneven the chunks are. What it costs is traffic that one device
// carries alone: with P devices and n bytes of parameters, a step moves (P-1) n out, in
// forward, and (P-1) n back, in backward. DistributedDataParallel moves 2(P-1)/P n a
// rank, all at once, and keeps replicas that need no copying.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/replicate.hpp"

namespace mini::parallel {

struct DataParallelOptions {
    /// The module's device first; all GPUs when empty and the module is on one, else a
    /// lane of the CPU for each processor.
    std::vector<Device> device_ids = {};

    /// Where the result goes; device_ids[0] when not set.
    std::optional<Device> output_device = std::nullopt;
};

/// `torch.nn.DataParallel`. The wrapped module's parameters appear as "module.<name>".
///
/// The module itself computes chunk 0, on the calling thread. So what its forward()
/// writes into its buffers stays, such as running statistics, of chunk 0 only; what
/// replicas write into theirs is lost, as in PyTorch.
///
/// Dropout and the like: device 0 draws from the caller's generator, as without
/// DataParallel. Device i draws from one of its own, restarted in every forward()
/// from the word that the caller's dropout stream would give next, plus i. So masks
/// differ between devices, manual_seed governs all of them, and a generator's saved
/// state resumes all.
class DataParallel : public nn::Module {
  public:
    /// Starts a thread for each device but the first. `make_replica` builds the same
    /// module again, since modules cannot be copied; it is called on those threads, one
    /// at a time, once per device, and again where a second forward() comes before the
    /// first backward(). Throws UsageError for a device that is not there or comes twice.
    /// REQUIRES: `module` outlives this object.
    DataParallel(nn::Module& module, ModuleFactory make_replica,
                 DataParallelOptions options = {});

    /// The module's result for x, which is cut along dimension 0; blocks until all lanes
    /// are done, but not for GPUs. x may be on any device. Devices that get no chunk have
    /// nothing to do. With one device it is module(x). Warns once, of a batch that leaves
    /// a device less than 3/4 of the rows of another. Throws what a replica throws, of
    /// the first one that did, with "Caught Error in replica 1 on device cpu:1. " in
    /// front; Error for a parameter or buffer that is not on device_ids[0], and for a
    /// make_replica that builds another module.
    Tensor forward(const Tensor& x) override;

    /// What was moved since the start, forward and backward.
    const DataParallelStats& stats() const { return *stats_; }

    const std::vector<Device>& device_ids() const { return devices_; }

  private:
    using Passes = std::vector<std::shared_ptr<ReplicaPass>>;

    void check_device_of_module() const;
    void warn_of_imbalance(const std::vector<Tensor>& chunks);
    std::shared_ptr<Replica> free_replica(size_t index);
    Passes replicate(size_t count);
    std::vector<Tensor> parallel_apply(const std::vector<Tensor>& chunks, Passes& passes);

    nn::Module& module_;
    ModuleFactory make_replica_;
    std::vector<Device> devices_;
    Device output_device_;
    SharedStats stats_ = std::make_shared<DataParallelStats>();
    std::vector<std::shared_ptr<Lane>> lanes_;  // by device, none for 0
    std::vector<std::vector<std::shared_ptr<Replica>>> replicas_;  // by device
    bool warned_ = false;
};

}  // namespace mini::parallel
