#include <cuda_runtime.h>

#include <mutex>
#include <set>
#include <utility>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {
namespace {

// Lets `device` access the memory of `peer`, if the machine connects them: otherwise
// copies between the two go through host memory. The first call for a pair opens both
// devices; later calls do nothing (PyTorch does the same before its copies).
void enable_peer_access(int device, int peer) {
    static std::mutex mutex;
    static auto* const asked = new std::set<std::pair<int, int>>;  // also after main
    const std::lock_guard lock(mutex);
    if (!asked->insert({device, peer}).second) return;
    int possible = 0;
    check(cudaDeviceCanAccessPeer(&possible, device, peer), "cudaDeviceCanAccessPeer");
    if (possible == 0) return;
    const DeviceGuard guard(device);
    // An error means that access is enabled already, or that the device has too many
    // peers; in both cases copies work as before.
    if (cudaDeviceEnablePeerAccess(peer, 0) != cudaSuccess) cudaGetLastError();
}

}  // namespace

void copy(void* to, const void* from, size_t bytes, cudaStream_t stream) {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    for (const void* const memory : {static_cast<const void*>(to), from})
        if (is_pinned(memory)) record_stream(memory, stream);
}

void copy_between(void* to, int to_device, const void* from, int from_device,
                  size_t bytes, bool non_blocking) {
    // Between two devices, first wait until earlier work on the destination is done.
    if (from_device != kHost && to_device != kHost && to_device != from_device) {
        enable_peer_access(from_device, to_device);
        const DeviceGuard guard(to_device);
        synchronize_stream(current_stream(to_device));
    }
    const int device = from_device != kHost ? from_device : to_device;
    const DeviceGuard guard(device);
    const cudaStream_t stream = current_stream(device);
    const bool is_kept = non_blocking && (is_pinned(to) || is_pinned(from));
    copy(to, from, bytes, stream);
    if (to_device != from_device && !is_kept) synchronize_stream(stream);
}

}  // namespace mini::cuda
