// DataParallel: one process, several devices, one module.
//
//     x ─ scatter ─┬─ chunk 0 ─► the module       cpu   ─┐
//                  ├─ chunk 1 ─► copy 1           cpu:1 ─┼─ gather ─► y
//                  └─ chunk 2 ─► copy 2           cpu:2 ─┘
//
// All four functions are recorded in one autograd graph, as in PyTorch, so backward()
// finds the way back by itself. The loss is computed from y on one device, so it is the
// loss of the whole batch, even when the chunks have different sizes. The cost is traffic
// through the first device: with P devices and n bytes of parameters, a step sends (P-1)
// n bytes of parameters from it, and (P-1) n bytes of gradients to it.
// DistributedDataParallel moves 2(P-1)/P n bytes per rank, on all ranks in parallel, and
// copies no parameters.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/replicate.hpp"

namespace mini::parallel {

struct DataParallelOptions {
    /// The devices to use, the module's device first. When empty: all GPUs if the module
    /// is on a GPU, otherwise one CPU device per processor.
    std::vector<Device> device_ids = {};

    /// The device of the result; device_ids[0] when not set.
    std::optional<Device> output_device = std::nullopt;
};

/// `torch.nn.DataParallel`. The wrapped module's parameters appear as "module.<name>".
///
/// The module itself computes chunk 0, on the calling thread. So the module keeps the
/// buffer updates of chunk 0 only, such as running statistics; updates of the copies'
/// buffers are lost, as in PyTorch. All devices compute forward at the same time;
/// backward runs on the thread that calls it (PyTorch's engine has a thread per device).
/// With three devices and more, the order in which the copies' gradients are added is not
/// fixed, so that their last bits may differ.
///
/// Dropout and other random operations: device 0 draws from the caller's generator, as
/// without DataParallel. Every forward() seeds the generator of device i > 0 with i plus
/// the 32-bit number that the caller's generator would draw next. So the masks differ
/// between devices, and the state of the caller's generator determines all of them.
class DataParallel : public nn::Module {
  public:
    /// Starts a worker for each device except the first. `make_replica` builds the same
    /// module again, since modules cannot be copied; the first forward() calls it once
    /// per worker, on the worker's thread. Throws UsageError for a device that does not
    /// exist or is listed twice, and for a mix of CPU and GPU devices. REQUIRES: `module`
    /// outlives this object.
    DataParallel(nn::Module& module, ModuleFactory make_replica,
                 DataParallelOptions options = {});

    /// Returns the module's result for x, which is split along dimension 0. Blocks until
    /// all modules are done, but not until GPUs have finished their kernels. x may be on
    /// any device. Sends nothing to a device without a chunk. With one device the result
    /// is module(x). Logs one warning, at the first batch of which one device gets less
    /// than 3/4 of the rows of another device. Throws the error of the first module that
    /// failed, prefixed with "Caught Error in replica 1 on device cpu:1. "; throws Error
    /// for a parameter or buffer that is not on device_ids[0], and when make_replica
    /// builds a different module.
    Tensor forward(const Tensor& x) override;

    /// Returns the bytes that all passes so far have moved between devices.
    const DataParallelStats& stats() const { return *stats_; }

    const std::vector<Device>& device_ids() const { return devices_; }

  private:
    void check_device_of_module() const;
    void build_copies();
    void seed_workers();
    void warn_of_imbalance(int64_t rows);

    nn::Module& module_;
    ModuleFactory make_replica_;
    std::vector<Device> devices_;
    Device output_device_;
    SharedStats stats_ = std::make_shared<DataParallelStats>();
    std::vector<std::unique_ptr<nn::Module>> copies_;  // by device; null for device 0
    Workers workers_;
    bool warned_ = false;
};

}  // namespace mini::parallel
