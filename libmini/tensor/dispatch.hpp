// One call for both devices: the CPU's kernel, or the GPU's in the order of its stream.
//
//     run<cpu::scale, gpu::scale>(x.device(), x.data<float>(), alpha, x.numel());

#pragma once

#include <cstddef>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/elements.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/losses.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

namespace cpu = kernels::cpu;
namespace gpu = kernels::cuda;

/// Whether this build has CUDA devices, real or simulated (MINI_CUDA).
constexpr bool kHasCuda = MINI_HAS_CUDA;

/// What a build without CUDA devices has to say.
inline constexpr const char* kNoCuda =
    "this build has no CUDA devices; configure with MINI_CUDA=SIM or ON";

/// Throws an Error that says so.
[[noreturn]] inline void no_cuda() { throw Error(concat("cuda: ", kNoCuda)); }

/// Calls kCpu(arguments...), or kCuda(arguments..., stream) with the device's current
/// stream; the latter returns when the work is in the stream.
template <auto kCpu, auto kCuda, typename... Arguments>
void run(Device device, Arguments&&... arguments) {
    if (device.is_cpu()) {
        kCpu(std::forward<Arguments>(arguments)...);
    } else if constexpr (kHasCuda) {
        const cuda::DeviceGuard guard(device.index);
        kCuda(std::forward<Arguments>(arguments)..., cuda::current_stream(device.index));
    } else {
        no_cuda();
    }
}

/// Does `work(stream)` on a GPU, with its current stream. REQUIRES: a CUDA device.
template <typename Work>
void on_gpu(Device device, const Work& work) {
    if constexpr (kHasCuda) {
        const cuda::DeviceGuard guard(device.index);
        work(cuda::current_stream(device.index));
    } else {
        no_cuda();
    }
}

/// A dtype as kernels know it.
constexpr gpu::ElementType element_type(DType dtype) {
    return static_cast<gpu::ElementType>(dtype);
}

/// Copies bytes from one place to another, on any devices. Into or out of the CPU's memory
/// it blocks until done.
void copy_bytes(std::byte* to, Device to_device, const std::byte* from,
                Device from_device, size_t bytes);

/// Calls body with x itself when it is on the CPU, else with a copy there, which then
/// replaces the elements of x. For what is small or rare.
template <typename Body>
void on_cpu(Tensor& x, const Body& body) {
    if (x.device().is_cpu()) return body(x);
    Tensor copy = x.to(Device::cpu());
    body(copy);
    ops::copy_(x, copy);
}

/// Whether kernels may take both: the lanes of the CPU share their memory.
inline bool same_memory(Device a, Device b) {
    return a == b || (a.is_cpu() && b.is_cpu());
}

/// The device of all these tensors; undefined ones do not count. Throws ShapeError naming
/// two that differ.
template <typename... Tensors>
Device common_device(const char* name, const Tensor& first, const Tensors&... others) {
    const auto check = [&](const Tensor& other) {
        check_shape(!other.defined() || same_memory(other.device(), first.device()), name,
                    ": all tensors must be on one device, but one is on ", first.device(),
                    " and one on ", other.defined() ? other.device() : first.device(),
                    "; move one with to()");
    };
    (check(others), ...);
    return first.device();
}

}  // namespace mini
