// Which device is whose: properties, and one device a rank.
//
// A process that opens a context on a device that is not its own costs that device some hundred
// megabytes and a queue. The classic way to get there is to forget set_device in a job with
// several processes: all of them open one on device 0.

#pragma once

#include <cstddef>
#include <string>

#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// (`torch.cuda.get_device_properties`)
struct DeviceProperties {
    std::string name;
    size_t total_memory = 0;             // bytes
    size_t shared_memory_per_block = 0;  // bytes, the most that a kernel can ask for
    int multi_processor_count = 0;
    int major = 0, minor = 0;  // compute capability
};
DeviceProperties device_properties(int device);

/// Bytes that no process uses, and all there are (`torch.cuda.mem_get_info`).
struct MemoryInfo {
    size_t free = 0, total = 0;
};
MemoryInfo memory_info(int device);

/// Makes a device the calling thread's current_device() (`torch.cuda.set_device`).
void set_device(int device);

/// Makes device LOCAL_RANK, 0 where that is not set, the current one, and returns it. From then
/// on this thread is warned when it opens a context on another device. Throws Error when there
/// are fewer devices than that.
int set_device_from_local_rank();

}  // namespace mini::cuda
