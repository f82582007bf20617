// The GPUs of this machine, found without a library of CUDA.

#pragma once

#include <string>

namespace mini::tools {

/// Returns the number of NVIDIA GPUs that a program can use: the devices nvidia0,
/// nvidia1, ... in the folder `devices`. If CUDA_VISIBLE_DEVICES is set and there is a
/// device, returns the number of its entries before an empty entry or "-1".
int count_gpus(const std::string& devices = "/dev");

}  // namespace mini::tools
