// DataParallel: one process, several devices, one module.
//
//     x ─ scatter ─┬─ chunk 0 ─► the module       cpu   ─┐
//                  ├─ chunk 1 ─► replica 1        cpu:1 ─┼─ gather ─► y
//                  └─ chunk 2 ─► replica 2        cpu:2 ─┘
//
// The loss is computed from y on one device, so it is the loss of the whole batch: the
// mean is exact even when the chunks have different sizes. The cost is traffic through
// the first device: with P devices and n bytes of parameters, a step sends (P-1) n bytes
// of parameters from this device in forward, and (P-1) n bytes of gradients to this
// device in backward. DistributedDataParallel moves 2(P-1)/P n bytes per rank, on all
// ranks in parallel; it keeps its replicas, so no step copies parameters.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/replicate.hpp"

namespace mini::parallel {

struct DataParallelOptions {
    /// The devices to use, the module's device first. When empty: all GPUs if the module
    /// is on a GPU, otherwise one CPU lane per processor.
    std::vector<Device> device_ids = {};

    /// The device of the result; device_ids[0] when not set.
    std::optional<Device> output_device = std::nullopt;
};

/// `torch.nn.DataParallel`. The wrapped module's parameters appear as "module.<name>".
///
/// The module itself computes chunk 0, on the calling thread. So the module keeps the
/// buffer updates of chunk 0 only, such as running statistics; updates of the replicas'
/// buffers are lost, as in PyTorch.
///
/// Dropout and other random operations: device 0 draws from the caller's generator, as
/// without DataParallel. Device i > 0 draws from its own generator. Every forward() seeds
/// this generator with i plus the 32-bit number that the caller's dropout stream would
/// draw next. So the masks differ between devices, manual_seed determines the masks of
/// all devices, and restoring the caller's generator state restores the masks of all
/// devices.
class DataParallel : public nn::Module {
  public:
    /// Starts a thread for each device except the first. `make_replica` builds the same
    /// module again, since modules cannot be copied. forward() calls `make_replica` on
    /// these threads, one at a time: once per device, and again in a forward() that comes
    /// before the backward() of an earlier forward(). Throws UsageError for a device that
    /// does not exist or is listed twice, and for a mix of CPU and GPU devices. REQUIRES:
    /// `module` outlives this object.
    DataParallel(nn::Module& module, ModuleFactory make_replica,
                 DataParallelOptions options = {});

    /// Returns the module's result for x, which is split along dimension 0. Blocks until
    /// all lanes are done, but not until GPUs have finished their kernels. x may be on
    /// any device. Devices without a chunk are idle. With one device the result is
    /// module(x). Logs one warning, at the first batch of which one device gets less than
    /// 3/4 of the rows of another device. Throws the error of the first replica that
    /// failed, prefixed with "Caught Error in replica 1 on device cpu:1. "; throws Error
    /// for a parameter or buffer that is not on device_ids[0], and when make_replica
    /// builds a different module.
    Tensor forward(const Tensor& x) override;

    /// Returns the bytes moved between devices since construction, by forward and
    /// backward passes.
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
    std::vector<std::shared_ptr<Lane>> lanes_;  // by device, null for device 0
    std::vector<std::vector<std::shared_ptr<Replica>>> replicas_;  // by device
    bool warned_ = false;
};

}  // namespace mini::parallel
