// The CUDA interface: errors, devices and launches.

#include "libmini/extras/cudasim/api.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/stream.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

// The limits of one launch: CUDA does not start a kernel that exceeds one of them.
//
//     threads of a block      1024
//     shared memory           48 KiB for static and dynamic together; up to 163 KiB after
//                             cudaFuncSetAttribute, for dynamic only
//
// nvcc refuses kernels with too much static shared memory; here their launch fails.
const cudaDeviceProp kDevice = {};

// The shared memory of a kernel.
struct SharedLimits {
    size_t arrays = 0;              // bytes of its __shared__ arrays
    std::string names;              // of them
    std::optional<size_t> dynamic;  // set by cudaFuncSetAttribute
};

// Returns the entry of a kernel. REQUIRES: the machine is locked.
SharedLimits& limits_of(const void* kernel) {
    static auto* const all = new std::map<const void*, SharedLimits>;
    const auto [found, is_new] = all->try_emplace(kernel);
    if (!is_new) return found->second;
    std::vector<std::string> names;
    for (const auto& array : shared_arrays_of(kernel)) {
        found->second.arrays += array.bytes;
        names.push_back(concat(array.name, " ", array.bytes));
    }
    found->second.names = mini::join(names);
    return found->second;
}

bool fits(dim3 extent, const int (&max)[3]) {
    const unsigned all[] = {extent.x, extent.y, extent.z};
    return std::equal(all, all + 3, max, [](unsigned each, int most) {
        return each > 0 && each <= static_cast<unsigned>(most);
    });
}

// Reports the first limit that a launch exceeds. REQUIRES: the machine is locked.
cudaError_t check_limits(const Launch& launch) {
    if (!fits(launch.grid, kDevice.maxGridSize) ||
        !fits(launch.block, kDevice.maxThreadsDim) ||
        threads_of(launch) > static_cast<unsigned>(kDevice.maxThreadsPerBlock))
        return report(cudaErrorInvalidConfiguration);
    const SharedLimits& limits = limits_of(launch.kernel);
    if (limits.arrays > kDevice.sharedMemPerBlock)
        return report(
            cudaErrorInvalidValue,
            concat("the kernel's __shared__ arrays take ", limits.arrays, " bytes (",
                   limits.names, "), and nvcc allows ", kDevice.sharedMemPerBlock,
                   ": use dynamic shared memory and cudaFuncSetAttribute"));
    const size_t limit =
        limits.dynamic.value_or(kDevice.sharedMemPerBlock - limits.arrays);
    if (launch.shared_bytes <= limit) return cudaSuccess;
    return report(cudaErrorInvalidValue,
                  concat("the launch requests ", launch.shared_bytes,
                         " bytes of dynamic shared memory, and ", limit, " are allowed",
                         limits.dynamic ? ""
                                        : concat(" beside __shared__ arrays of ",
                                                 limits.arrays, " bytes"),
                         ": raise cudaFuncAttributeMaxDynamicSharedMemorySize by "
                         "cudaFuncSetAttribute first"));
}

// Returns how many blocks of this shape run on a multiprocessor together, and on a device.
int blocks_together(const void* kernel, unsigned threads, size_t shared_bytes) {
    const size_t taken = limits_of(kernel).arrays + shared_bytes + 1024;
    const auto most = static_cast<int>(kDevice.sharedMemPerMultiprocessor / taken);
    const int warps = static_cast<int>(threads + 31) / 32;
    return std::min({kDevice.maxBlocksPerMultiProcessor, most,
                     kDevice.maxThreadsPerMultiProcessor / (32 * warps)});
}
int multiprocessors() {
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

// Enqueues a launch, or returns CUDA's error.
cudaError_t start(const cuda::Config& config, const void* kernel, void (*run)(void*),
                  std::shared_ptr<void> data, size_t bytes) {
    MINI_CHECK(!in_kernel(), "launches by kernels are not simulated");
    StreamCall call(config.stream);
    if (call.error != cudaSuccess) return report(call.error);
    if (call.stream->device != current_device())
        return report(cudaErrorInvalidResourceHandle);
    const Region arguments{static_cast<std::byte*>(data.get()), bytes};
    const auto launch = std::make_shared<Launch>(
        Launch{config.grid, config.block, config.shared_bytes, config.cooperative, kernel,
               arguments, [run, data = std::move(data)] { run(data.get()); }});
    if (const cudaError_t error = check_limits(*launch)) return error;
    const int most = multiprocessors() *
                     blocks_together(kernel, threads_of(*launch), config.shared_bytes);
    if (config.cooperative && count(config.grid) > size_t(most))
        return report(cudaErrorCooperativeLaunchTooLarge);
    return report(call.give({.kind = OperationKind::kKernel, .launch = launch}));
}

}  // namespace
}  // namespace mini::sim

using namespace mini::sim;

cudaError_t mini::cuda::enqueue(const Config& config, const void* kernel,
                                void (*run)(void*), std::shared_ptr<void> data,
                                size_t bytes) {
    if (in_kernel() && is_inspected())
        return tell::refused("a kernel launches it: not simulated", kernel),
               cudaErrorNotSupported;
    const cudaError_t error = start(config, kernel, run, std::move(data), bytes);
    if (error != cudaSuccess && error != cudaErrorLaunchFailure && is_inspected())
        tell::refused(cudaGetErrorString(error), kernel);
    return error;
}

// A device's sticky error has its own text, which reports what failed and where.
cudaError_t cudaGetLastError() {
    return std::exchange(host_thread().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return host_thread().last_error; }

const char* cudaGetErrorName(cudaError_t error) {
#define MINI_NAME(name, number, text) \
    if (error == name) return #name;
    MINI_ERRORS(MINI_NAME)
#undef MINI_NAME
    return "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
    HostThread& thread = host_thread();
    if (error != cudaSuccess && device_count() > 0) {
        Machine& machine = Machine::instance();
        const Machine::Lock lock = machine.lock();
        const int device = current_device();
        if (machine.error(device) == error)
            thread.explained = error, thread.explanation = machine.fault(device);
    }
    if (error == thread.explained && !thread.explanation.empty())
        return thread.explanation.c_str();
#define MINI_TEXT(name, number, text) \
    if (error == name) return text;
    MINI_ERRORS(MINI_TEXT)
    return "an unknown error";
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = device_count();
    return *count > 0 ? cudaSuccess : report(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* device) {
    if (device_count() == 0) return report(cudaErrorNoDevice);
    *device = host_thread().device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (!is_device(device)) return report(cudaErrorInvalidDevice);
    host_thread().device = device;
    open_context();
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (!is_device(device)) return report(cudaErrorInvalidDevice);
    *properties = {};
    std::strcpy(properties->name, "simulated device");
    properties->uuid.bytes[15] = static_cast<char>(device + 1);
    properties->totalGlobalMem = kDeviceBytes;
    properties->multiProcessorCount = multiprocessors();
    return cudaSuccess;
}

// All simulated devices can access each other's memory.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (!is_device(device) || !is_device(peer)) return report(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
    static auto& enabled = *new std::set<std::pair<int, int>>;
    const Machine::Lock lock = Machine::instance().lock();
    const int device = current_device();
    if (!is_device(peer) || peer == device) return report(cudaErrorInvalidDevice);
    const bool is_new = enabled.emplace(device, peer).second;
    return is_new ? cudaSuccess : report(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess) return error;
#define MINI_PROPERTY(name, number, property) \
    if (attribute == name)                    \
        return *value = static_cast<int>(properties.property), cudaSuccess;
    MINI_ATTRIBUTES(MINI_PROPERTY)
    return report(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize() {
    return with_device([](Machine& machine, Machine::Lock& lock, int device) {
        machine.wait_device(lock, device);
        return machine.error(device);
    });
}

// Clears the device's sticky error; keeps memory, streams and events.
cudaError_t cudaDeviceReset() {
    return with_device([](Machine& machine, Machine::Lock& lock, int device) {
        machine.wait_device(lock, device, false);
        machine.fault(device).clear();
        return cudaSuccess;
    });
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
    if (name == nullptr || kernel == nullptr) return report(cudaErrorInvalidValue);
    *name = function_at(kernel).c_str();
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(KernelAddress kernel, cudaFuncAttribute attribute,
                                 int value) {
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0)
        return report(cudaErrorInvalidValue);
    const Machine::Lock lock = Machine::instance().lock();
    SharedLimits& limits = limits_of(kernel.at);
    const auto bytes = static_cast<size_t>(value);
    if (bytes + limits.arrays > kDevice.sharedMemPerBlockOptin)
        return report(cudaErrorInvalidValue);
    limits.dynamic = bytes;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, KernelAddress kernel) {
    const Machine::Lock lock = Machine::instance().lock();
    const SharedLimits& limits = limits_of(kernel.at);
    *attributes = {};
    attributes->sharedSizeBytes = limits.arrays;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(
        limits.dynamic.value_or(kDevice.sharedMemPerBlock - limits.arrays));
    attributes->maxThreadsPerBlock = kDevice.maxThreadsPerBlock;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          KernelAddress kernel,
                                                          int threads,
                                                          size_t shared_bytes) {
    if (threads < 1 || threads > kDevice.maxThreadsPerBlock)
        return report(cudaErrorInvalidValue);
    const Machine::Lock lock = Machine::instance().lock();
    *blocks = blocks_together(kernel.at, static_cast<unsigned>(threads), shared_bytes);
    return cudaSuccess;
}
