// The types and constants of the CUDA Runtime API, shared by all of the simulator.

#pragma once

#include <cstddef>

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

// clang-format off
// Each error: its name, its number, and what it means.
#define MINI_ERRORS(error)                                                                  \
    error(cudaSuccess, 0, "no error")                                                       \
    error(cudaErrorInvalidValue, 1, "an argument is not valid")                             \
    error(cudaErrorMemoryAllocation, 2, "the device is out of memory")                      \
    error(cudaErrorInvalidConfiguration, 9, "the grid or block dimensions are invalid")     \
    error(cudaErrorInvalidMemcpyDirection, 21, "the direction of the copy is invalid")      \
    error(cudaErrorNoDevice, 100, "no device was found")                                    \
    error(cudaErrorInvalidDevice, 101, "the device index is invalid")                       \
    error(cudaErrorInvalidResourceHandle, 400, "no such stream or event on this device")    \
    error(cudaErrorNotReady, 600, "the work is not done yet")                               \
    error(cudaErrorIllegalAddress, 700, "a kernel accessed an illegal address")             \
    error(cudaErrorLaunchTimeout, 702, "a kernel takes too long")                           \
    error(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is enabled already")         \
    error(cudaErrorAssert, 710, "an assertion in a kernel failed")                          \
    error(cudaErrorHardwareStackError, 714, "a kernel's stack is broken")                   \
    error(cudaErrorLaunchFailure, 719, "a kernel failed")                                   \
    error(cudaErrorCooperativeLaunchTooLarge, 720, "the blocks do not fit on the device")   \
    error(cudaErrorNotSupported, 801, "this is not supported")                              \
    error(cudaErrorUnknown, 999, "an unknown error")
#define MINI_ENUMERATOR(name, number, text) name = number,
enum cudaError_t { MINI_ERRORS(MINI_ENUMERATOR) };
using cudaError = cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};

// Each attribute: its name, its number, and the property that has its value.
#define MINI_ATTRIBUTES(attribute)                                                          \
    attribute(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                         \
    attribute(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                     \
    attribute(cudaDevAttrWarpSize, 10, warpSize)                                            \
    attribute(cudaDevAttrClockRate, 13, clockRate)                                          \
    attribute(cudaDevAttrGpuOverlap, 15, deviceOverlap)                                     \
    attribute(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                      \
    attribute(cudaDevAttrIntegrated, 18, integrated)                                        \
    attribute(cudaDevAttrComputeMode, 20, computeMode)                                      \
    attribute(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)      \
    attribute(cudaDevAttrComputeCapabilityMajor, 75, major)                                 \
    attribute(cudaDevAttrComputeCapabilityMinor, 76, minor)                                 \
    attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)  \
    attribute(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                          \
    attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)          \
    attribute(cudaDevAttrMemoryPoolsSupported, 115, memoryPoolsSupported)
enum cudaDeviceAttr { MINI_ATTRIBUTES(MINI_ENUMERATOR) };
#undef MINI_ENUMERATOR

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout
};
// clang-format on

struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    int maxDynamicSharedSizeBytes, maxThreadsPerBlock;
    // Below, zeros.
    int numRegs, binaryVersion, ptxVersion, cacheModeCA;
    size_t constSizeBytes, localSizeBytes;
};

struct cudaUUID_t {
    char bytes[16];
};

// Where no value is given here, cudaGetDeviceProperties sets it.
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem;
    int multiProcessorCount;
    // Below, the numbers of an A100.
    size_t sharedMemPerBlock = 48 << 10, sharedMemPerBlockOptin = 163 << 10;
    size_t sharedMemPerMultiprocessor = 164 << 10, totalConstMem = 65536;
    int warpSize = 32, maxThreadsPerBlock = 1024;
    int maxThreadsPerMultiProcessor = 2048, maxBlocksPerMultiProcessor = 32;
    int maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {0x7fffffff, 65535, 65535};
    int regsPerBlock = 65536, regsPerMultiprocessor = 65536;
    int major = 8, minor = 0;
    int clockRate = 1'410'000, memoryClockRate = 1'215'000;  // kHz
    int memoryBusWidth = 5120, l2CacheSize = 40 << 20;       // bits, bytes
    int concurrentKernels = 1, asyncEngineCount = 1, canMapHostMemory = 1;
    int unifiedAddressing = 1, managedMemory = 1, concurrentManagedAccess = 1;
    int integrated = 0, cooperativeLaunch = 1, memoryPoolsSupported = 0;
    int pageableMemoryAccess = 0;
    // Below, zeros.
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t memPitch, textureAlignment, surfaceAlignment;
    int ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, computeMode;
    int globalL1CacheSupported, localL1CacheSupported, streamPrioritiesSupported;
    int maxTexture1D, maxTexture1DMipmap, kernelExecTimeoutEnabled, deviceOverlap;
};

constexpr unsigned cudaStreamDefault = 0;
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventBlockingSync = 1;
constexpr unsigned cudaEventDisableTiming = 2;
constexpr unsigned cudaEventInterprocess = 4;  // needs cudaEventDisableTiming
