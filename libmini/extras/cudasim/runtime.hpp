// The part of the CUDA Runtime API that libmini itself does not use, in terms of api.hpp.

#pragma once

#include <algorithm>
#include <cstddef>

#include "libmini/extras/cudasim/api.hpp"

#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#define CUDART_CB

// clang-format off
constexpr int cudaCpuDeviceId = -1;
enum : unsigned {
    cudaMemAttachGlobal = 1, cudaMemAttachHost, cudaMemAttachSingle = 4,
    cudaHostAllocDefault = 0, cudaHostAllocPortable, cudaHostAllocMapped,
    cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0, cudaHostRegisterPortable,
    cudaHostRegisterMapped, cudaDeviceScheduleAuto = 0,
    cudaDeviceScheduleSpin, cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4,
    cudaDeviceMapHost = 8
};
enum cudaFuncCache {
    cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaSharedCarveout { cudaSharedmemCarveoutMaxShared = 100 };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeProhibited = 2 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost };
enum cudaMemAccessFlags { cudaMemAccessFlagsProtRead = 1, cudaMemAccessFlagsProtReadWrite = 3 };
struct cudaMemLocation { cudaMemLocationType type; int id; };
struct cudaMemAccessDesc { cudaMemLocation location; cudaMemAccessFlags flags; };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
using cudaMemPool_t = void*;
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseSetAccessedBy = 5
};

// ---- memory ----
// clang-format on
#define cudaHostAlloc cudaMallocHost
#define cudaHostGetDevicePointer(device, host, flags)                             \
    (*(device) = static_cast<std::remove_reference_t<decltype(*(device))>>(host), \
     cudaSuccess)
#define cudaMallocAsync(pointer, bytes, stream) cudaMalloc(pointer, bytes)
#define cudaFreeAsync(pointer, stream) cudaFree(pointer)
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 255) / 256 * 256;
    return cudaMalloc(pointer, *pitch * height);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; ++row)
        error = cudaMemcpyAsync(static_cast<char*>(to) + row * to_pitch,
                                static_cast<const char*>(from) + row * from_pitch, width,
                                kind, stream);
    return error;
}
template <typename... Arguments>
cudaError_t cudaMemcpy2D(Arguments... arguments) {
    const cudaError_t error = cudaMemcpy2DAsync(arguments...);
    return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

// ---- kernels by their address ----
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block,
                                                      KernelAddress kernel,
                                                      size_t shared_bytes = 0,
                                                      int limit = 0) {
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    *block = limit > 0 ? std::min(limit, device.maxThreadsPerBlock)
                       : device.maxThreadsPerBlock;
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(grid, kernel, *block, shared_bytes);
    *grid *= device.multiProcessorCount;
    return error;
}
// ---- variables in device memory: a symbol is a reference to its place ----
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                               size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    return cudaMemcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes,
                      cudaMemcpyDefault);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                 size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes,
                      cudaMemcpyDefault);
}
// ---- what changes nothing here, and other names of the same ----
// clang-format off
#define MINI_NOTHING(name) \
    template <typename... Arguments> cudaError_t name(Arguments...) { return cudaSuccess; }
MINI_NOTHING(cudaMemPrefetchAsync) MINI_NOTHING(cudaMemAdvise)
MINI_NOTHING(cudaStreamAttachMemAsync) MINI_NOTHING(cudaHostRegister)
MINI_NOTHING(cudaHostUnregister) MINI_NOTHING(cudaFuncSetCacheConfig)
MINI_NOTHING(cudaDeviceSetCacheConfig) MINI_NOTHING(cudaDeviceSetLimit)
MINI_NOTHING(cudaSetDeviceFlags) MINI_NOTHING(cudaDeviceGetDefaultMemPool)
MINI_NOTHING(cudaMemPoolSetAttribute) MINI_NOTHING(cudaMemPoolSetAccess)
MINI_NOTHING(cudaProfilerStart) MINI_NOTHING(cudaProfilerStop)
MINI_NOTHING(cudaDeviceDisablePeerAccess)
// A launch in a queue may use it.
MINI_NOTHING(cudaDestroyTextureObject) MINI_NOTHING(cudaDestroySurfaceObject)
// clang-format on
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaDriverGetVersion cudaRuntimeGetVersion
#define cudaRuntimeGetVersion(version) (*(version) = CUDART_VERSION, cudaSuccess)
#define cudaDeviceGetStreamPriorityRange(least, greatest) \
    (*(least) = *(greatest) = 0, cudaSuccess)
#define cudaStreamCreateWithPriority(stream, flags, priority) \
    cudaStreamCreateWithFlags(stream, flags)
