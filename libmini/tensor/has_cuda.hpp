// Whether there are CUDA devices, and CUDA's functions where there are.

#pragma once

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini {

/// Whether this build has CUDA devices, real or simulated (MINI_CUDA).
constexpr bool kHasCuda = MINI_HAS_CUDA;

/// What a build without CUDA devices has to say.
inline constexpr const char* kNoCuda =
    "this build has no CUDA devices; configure with MINI_CUDA=SIM or ON";

/// Throws an Error that says so.
[[noreturn]] inline void no_cuda() { throw Error(concat("cuda: ", kNoCuda)); }

}  // namespace mini
