// DataParallel: one process, several devices, one module.
//
//     x ─ scatter ─┬─ chunk 0 ─► the module       cpu   ─┐
//                  ├─ chunk 1 ─► replica 1        cpu:1 ─┼─ gather ─► y
//                  └─ chunk 2 ─► replica 2        cpu:2 ─┘
//
// The loss is computed from y on one device, so it is the loss of the whole batch: the
// mean is exact even when the chunks have different sizes. The cost is traffic through a
// single device: with P devices and n bytes of parameters, a step moves (P-1) n bytes out
// in forward, and (P-1) n bytes back in backward. DistributedDataParallel moves
// 2(P-1)/P n bytes per rank, on all ranks in parallel, and keeps its replicas, so it does
// not copy parameters.

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
/// The module itself computes chunk 0, on the calling thread. So buffer updates in its
/// forward(), such as running statistics, are kept for chunk 0 only; updates of the
/// replicas' buffers are lost, as in PyTorch.
///
/// Dropout and other random operations: device 0 draws from the caller's generator, as
/// without DataParallel. Device i draws from its own generator, which every forward()
/// seeds with the word that the caller's dropout stream would draw next, plus i. So the
/// masks differ between devices, manual_seed determines the masks of all devices, and
/// restoring the caller's generator state restores the masks of all devices.
class DataParallel : public nn::Module {
  public:
    /// Starts a thread for each device except the first. `make_replica` builds the same
    /// module again, since modules cannot be copied; it is called on those threads, one
    /// at a time, once per device, and again when a second forward() comes before the
    /// first backward(). Throws UsageError for a device that does not exist or is listed
    /// twice. REQUIRES: `module` outlives this object.
    DataParallel(nn::Module& module, ModuleFactory make_replica,
                 DataParallelOptions options = {});

    /// Returns the module's result for x, which is split along dimension 0; blocks until
    /// all lanes are done, but does not wait for GPUs. x may be on any device. Devices
    /// without a chunk are idle. With one device the result is module(x). Warns once,
    /// when a batch leaves a device less than 3/4 of the rows of another. Throws the
    /// error of the first replica that failed, prefixed with "Caught Error in replica 1
    /// on device cpu:1. "; throws Error for a parameter or buffer that is not on
    /// device_ids[0], and when make_replica builds a different module.
    Tensor forward(const Tensor& x) override;

    /// The bytes moved since construction, forward and backward.
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
