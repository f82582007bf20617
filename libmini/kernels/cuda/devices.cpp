#include "libmini/kernels/cuda/devices.hpp"

#include <cuda_runtime.h>

#include <string>

#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/errors.hpp"
#include "libmini/kernels/gpu.hpp"

namespace mini::cuda {
namespace {

// Returns the text of nvidia-smi -L: "GPU-" and groups of 8, 4, 4, 4 and 12 digits.
std::string uuid_text(const cudaUUID_t& uuid) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        text += {kDigits[byte / 16], kDigits[byte % 16]};
    }
    return text;
}

}  // namespace

DeviceProperties device_properties(int device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return {.name = properties.name,
            .total_memory = properties.totalGlobalMem,
            .shared_memory_per_block = properties.sharedMemPerBlockOptin,
            .multi_processor_count = properties.multiProcessorCount,
            .major = properties.major,
            .minor = properties.minor,
            .uuid = uuid_text(properties.uuid)};
}

MemoryInfo memory_info(int device) {
    const DeviceGuard guard(device);
    MemoryInfo info;
    check(cudaMemGetInfo(&info.free, &info.total), "cudaMemGetInfo");
    return info;
}

void set_device(int device) { exchange_device(device); }

}  // namespace mini::cuda
