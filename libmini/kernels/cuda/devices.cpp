#include "libmini/kernels/cuda/devices.hpp"

#include <cuda_runtime.h>

#include <cstdlib>
#include <string>

namespace mini::cuda {
namespace {

// Returns LOCAL_RANK, which minirun sets, or 0 if it is not set. Throws UsageError if it
// is not a number from 0.
int local_rank() {
    const char* const text = std::getenv("LOCAL_RANK");
    if (text == nullptr || *text == '\0') return 0;
    char* end = nullptr;
    const long rank = std::strtol(text, &end, 10);
    if (*end != '\0' || rank < 0 || rank > 1 << 20)
        throw UsageError(
            concat("LOCAL_RANK=", text, ": must be the number of a process, from 0"));
    return static_cast<int>(rank);
}

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

int set_device_from_local_rank() {
    const int rank = local_rank();
    const int count = device_count();
    MINI_CHECK(count > 0, "set_device_from_local_rank: ", device_count_text());
    MINI_CHECK(
        rank < count, "set_device_from_local_rank: LOCAL_RANK is ", rank,
        " but this machine has ", count, count == 1 ? " device" : " devices",
        "; start at most ", count,
        " processes here, or share devices: set_device(LOCAL_RANK % device_count())");
    note_device_of_rank(rank);
    set_device(rank);
    return rank;
}

}  // namespace mini::cuda
