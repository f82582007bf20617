// The device of a rank: "cpu", "cuda:1", or "cuda" (a GPU for each rank of a machine).

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::training {

/// Returns the device that `name` means for a rank: for "cuda", the GPU with index
/// local_rank modulo the number of GPUs of this machine. Throws as Device::parse does.
Device device_named(const std::string& name, int local_rank);

/// Returns device_named() for the calling rank. If the device is a GPU, makes it the
/// current device of this thread, so that the thread opens no other GPU.
Device device_of_rank(const std::string& name, int local_rank);

/// Returns device_of_rank() for a rank that a launcher started; std::nullopt without a
/// launcher. Uses the local rank, or the rank if the launcher sets no local rank. Call
/// this function before creating the process group, because otherwise the threads of the
/// group would open another GPU.
std::optional<Device> launched_device(const std::string& name);

/// Returns "cpu", or the device and the name of a GPU: "cuda:1 (NVIDIA H100 PCIe)".
std::string describe_device(Device device);

/// Returns the device of each rank: {"cuda:0", "cuda:1"}. Blocks until all ranks have
/// called it.
std::vector<std::string> devices_of_ranks(dist::ProcessGroup& group, Device device);

/// Computes model(x) with x copied to `device`: for count_correct, whose loader has batches
/// in CPU memory. REQUIRES: the model outlives this object.
class OnDevice : public nn::Module {
  public:
    OnDevice(nn::Module& model, Device device) : model_(model), device_(device) {
        register_module("model", model);
    }
    Tensor forward(const Tensor& x) override { return model_(x.to(device_)); }

  private:
    nn::Module& model_;
    Device device_;
};

}  // namespace mini::training
