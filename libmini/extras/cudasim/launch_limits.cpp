#include "libmini/extras/cudasim/launch_limits.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr dim3 kMaxBlock = {1024, 1024, 64};
constexpr dim3 kMaxGrid = {0x7fffffff, 65535, 65535};

// The shared memory of a kernel.
struct SharedLimits {
    size_t arrays = 0;              // bytes of its __shared__ arrays
    std::string names;              // of them
    std::optional<size_t> dynamic;  // set by cudaFuncSetAttribute
};

std::mutex mutex;  // guards the table that limits_of() returns

// Returns the entry of a kernel. REQUIRES: `mutex` is held.
SharedLimits& limits_of(const void* kernel) {
    static auto* const all = new std::map<const void*, SharedLimits>;
    const auto [found, is_new] = all->try_emplace(kernel);
    if (!is_new) return found->second;
    std::vector<std::string> names;
    for (const SharedArray& array : shared_arrays_of(kernel)) {
        found->second.arrays += array.bytes;
        names.push_back(concat(array.name, " ", array.bytes));
    }
    found->second.names = mini::join(names);
    return found->second;
}

bool fits(dim3 extent, dim3 max) {
    return extent.x > 0 && extent.y > 0 && extent.z > 0 && extent.x <= max.x &&
           extent.y <= max.y && extent.z <= max.z;
}

LaunchError check_shared(const Launch& launch) {
    const std::lock_guard lock(mutex);
    const SharedLimits& limits = limits_of(launch.kernel);
    if (limits.arrays > kSharedBytes)
        return {cudaErrorInvalidValue,
                concat("the kernel's __shared__ arrays take ", limits.arrays, " bytes (",
                       limits.names, "), and nvcc allows ", kSharedBytes,
                       ": use dynamic shared memory and cudaFuncSetAttribute")};
    const size_t limit = limits.dynamic.value_or(kSharedBytes - limits.arrays);
    if (launch.shared_bytes <= limit) return {};
    return {cudaErrorInvalidValue,
            concat("the launch requests ", launch.shared_bytes,
                   " bytes of dynamic shared memory, and ", limit, " are allowed",
                   limits.dynamic
                       ? ""
                       : concat(" beside __shared__ arrays of ", limits.arrays, " bytes"),
                   ": raise cudaFuncAttributeMaxDynamicSharedMemorySize by "
                   "cudaFuncSetAttribute first")};
}

}  // namespace

LaunchError check_limits(const Launch& launch) {
    const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
    if (!fits(launch.grid, kMaxGrid) || !fits(launch.block, kMaxBlock) ||
        threads > kMaxThreadsPerBlock)
        return {cudaErrorInvalidConfiguration, ""};
    return check_shared(launch);
}

cudaError_t set_dynamic_limit(const void* kernel, size_t bytes) {
    const std::lock_guard lock(mutex);
    SharedLimits& limits = limits_of(kernel);
    if (bytes + limits.arrays > kSharedBytesOptin) return cudaErrorInvalidValue;
    limits.dynamic = bytes;
    return cudaSuccess;
}

}  // namespace mini::sim
