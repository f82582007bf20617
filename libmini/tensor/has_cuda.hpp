// Whether this build supports CUDA, and the CUDA functions if it does.

#pragma once

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini {

/// Whether this build supports CUDA devices, real or simulated (MINI_CUDA).
constexpr bool kHasCuda = MINI_HAS_CUDA;

/// The error message of a build without CUDA devices.
inline constexpr const char* kNoCuda =
    "this build has no CUDA devices; configure with MINI_CUDA=SIM or ON";

/// Throws Error with the message kNoCuda.
[[noreturn]] inline void no_cuda() { throw Error(concat("cuda: ", kNoCuda)); }

}  // namespace mini
