// Dispatches an operation to the CPU kernel, or to the GPU kernel on the current stream.
//
//     run<cpu::scale, gpu::scale>(x.device(), x.data<float>(), alpha, x.numel());

#pragma once

#include <utility>

#include "libmini/core/dtype.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/gpu.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/tensor/device.hpp"

namespace mini {

namespace cpu = kernels::cpu;
namespace gpu = kernels::cuda;

/// Whether this build supports CUDA devices, real or simulated (MINI_CUDA).
constexpr bool kHasCuda = MINI_HAS_CUDA;

/// Calls kCpu(arguments...), or kCuda(arguments..., stream) with the device's current
/// stream. On a GPU, returns as soon as the kernel is enqueued on the stream. Throws
/// Error for a GPU in a build without CUDA.
template <auto kCpu, auto kCuda, typename... Arguments>
void run(Device device, Arguments&&... arguments) {
    if (device.is_cpu()) return kCpu(std::forward<Arguments>(arguments)...);
    const cuda::DeviceGuard guard(device.index);
    if constexpr (kHasCuda)
        kCuda(std::forward<Arguments>(arguments)..., cuda::current_stream(device.index));
}

/// Calls `work(stream)` with the GPU's current stream. Throws Error in a build without
/// CUDA. REQUIRES: `device` is a CUDA device.
template <typename Work>
void on_gpu(Device device, const Work& work) {
    const cuda::DeviceGuard guard(device.index);
    if constexpr (kHasCuda) work(cuda::current_stream(device.index));
}

/// Returns whether one kernel can access tensors on both devices: CPU devices share
/// one memory.
inline bool same_memory(Device a, Device b) {
    return a == b || (a.is_cpu() && b.is_cpu());
}

}  // namespace mini
