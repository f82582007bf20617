// Properties of devices.
//
// A context that a process opens on the device of another rank takes some hundred
// megabytes and a work queue of that device. The usual cause is a missing set_device in a
// job with several processes: every process then opens a context on device 0.

#pragma once

#include <cstddef>
#include <string>

namespace mini::cuda {

/// A device's properties (`torch.cuda.get_device_properties`).
struct DeviceProperties {
    std::string name;
    size_t total_memory = 0;             // bytes
    size_t shared_memory_per_block = 0;  // bytes, the maximum that a kernel can request
    int multi_processor_count = 0;
    int major = 0, minor = 0;  // compute capability
    std::string uuid;          // "GPU-" and 32 hexadecimal digits in groups
};
DeviceProperties device_properties(int device);

/// A device's total memory, and the memory that no process uses, in bytes
/// (`torch.cuda.mem_get_info`).
struct MemoryInfo {
    size_t free = 0, total = 0;
};
MemoryInfo memory_info(int device);

}  // namespace mini::cuda
