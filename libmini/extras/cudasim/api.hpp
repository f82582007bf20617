// The part of the CUDA Runtime API that libmini uses, on a CPU.
//
// Names, arguments, error codes and ordering are the same as in CUDA. The checker
// (checker.hpp) reports calls whose behaviour CUDA leaves undefined.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/types.hpp"

/// A kernel or its address.
struct KernelAddress {
    template <typename Kernel>
    KernelAddress(Kernel* kernel) : at((const void*)kernel) {}

    const void* at;
};

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);

namespace mini::sim {
/// Managed memory, which the host and kernels of all devices access, is pinned memory that
/// cudaFree frees.
enum class MemoryKind { kDevice, kPinned, kManaged };
cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind);
}  // namespace mini::sim
#define MINI_ALLOCATE(name, kind, ...)                                                   \
    template <typename T> /* may be const */                                             \
    cudaError_t name(T** pointer, size_t bytes __VA_OPT__(, ) __VA_ARGS__) {             \
        return mini::sim::allocate((void**)pointer, bytes, mini::sim::MemoryKind::kind); \
    }
MINI_ALLOCATE(cudaMalloc, kDevice)
MINI_ALLOCATE(cudaMallocHost, kPinned, unsigned = 0)
MINI_ALLOCATE(cudaMallocManaged, kManaged, unsigned = 1)
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
/// The devices must be those of the memory.
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                int from_device, size_t bytes,
                                cudaStream_t stream = nullptr);
inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from,
                                  int from_device, size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                            cudaStream_t stream = nullptr);
inline cudaError_t cudaMemset(void* to, int value, size_t bytes) {
    return cudaMemsetAsync(to, value, bytes);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data);

/// Sets `name` to the kernel's name as in the source (CUDA: the mangled name).
cudaError_t cudaFuncGetName(const char** name, const void* kernel);
cudaError_t cudaFuncSetAttribute(KernelAddress kernel, cudaFuncAttribute attribute,
                                 int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, KernelAddress kernel);
/// An A100's, whose registers are not counted: its multiprocessor has 2048 threads, 32 blocks and
/// 164 KiB of shared memory, of which each block takes 1 KiB more than it asks for.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          KernelAddress kernel,
                                                          int threads,
                                                          size_t shared_bytes);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = 0) {
    return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// A function whose accesses the checker does not see: what a launch's threads run outside of the
// kernel, or what reads the host's memory. Clang checks what it inlines.
#define MINI_UNCHECKED __attribute__((noinline, no_sanitize("thread")))

namespace mini::cuda {

/// The parts of <<<...>>>.
struct Config {
    Config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
        : grid(grid), block(block), shared_bytes(shared), stream(stream) {}

    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    bool cooperative = false;
};

/// Enqueues a launch whose threads each call run(data), of `bytes` bytes. `kernel` identifies
/// it in reports. Returns CUDA's error if CUDA would not start it, which the checker reports.
cudaError_t enqueue(const Config& config, const void* kernel, void (*run)(void*),
                    std::shared_ptr<void> data, size_t bytes);

/// Enqueues a launch whose threads each call body(), a lambda with MINI_UNCHECKED.
template <typename Body>
cudaError_t enqueue_body(const Config& config, const void* kernel, Body body) {
    return enqueue(
        config, kernel, [](void* data) MINI_UNCHECKED { (*static_cast<Body*>(data))(); },
        std::make_shared<Body>(std::move(body)), sizeof(Body));
}

/// Returns the place in device 0's memory of the variable that begins as `first`; the same
/// for each call with this address. Throws Error if there is too little memory.
void* device_variable(const void* first, size_t bytes);

}  // namespace mini::cuda
