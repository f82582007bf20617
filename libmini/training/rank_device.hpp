// Which device a rank computes on: "cpu", "cuda" (each rank of a machine its own), "cuda:1".

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/device.hpp"

namespace mini::training {

/// What `name` means to a rank: "cuda" is the GPU of its number on this machine, modulo how many
/// there are. REQUIRES: a name that add_device let pass.
Device device_named(const std::string& name, int local_rank);

/// The same for the calling rank. Makes a GPU the current device of this thread, so that no
/// other one is opened.
Device device_of_rank(const std::string& name, int local_rank);

/// The same for a rank that a launcher started: by its number on its machine or, where that is
/// not told, by its number at all. Nothing without a launcher. Known before there is a group,
/// whose threads would open another GPU.
std::optional<Device> launched_device(const std::string& name);

/// "cpu", or a GPU with its name: "cuda:1 (NVIDIA H100 PCIe)".
std::string describe_device(Device device);

/// "cuda:0", "cuda:1": the device of each rank. Blocks until all ranks have come here.
std::vector<std::string> devices_of_ranks(dist::ProcessGroup& group, Device device);

}  // namespace mini::training
