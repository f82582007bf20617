// MINI_TODO in .cu files, where it may stand in a kernel:
//
//     host code, and kernels on the simulator    throws NotImplemented
//     kernels on a GPU                           writes "[lab06.1] not started: ..." to
//                                                stderr as a failed assert() does, and
//                                                ends the kernel
//
// On the simulator the exception ends the kernel. On the simulator and on a GPU, the next
// call that waits for the kernel throws CudaError. Included only by .cu files, through
// launch.hpp.

#pragma once

#include "libmini/core/error.hpp"

#if defined(__CUDACC__)

#include <cassert>

namespace mini::cuda {

/// Implements MINI_TODO. `message` contains the task and the title.
[[noreturn]] __host__ __device__ inline void not_implemented(
    [[maybe_unused]] const char* task, [[maybe_unused]] const char* title,
    [[maybe_unused]] const char* message, [[maybe_unused]] const char* file,
    [[maybe_unused]] unsigned line) {
#if defined(__CUDA_ARCH__)
    __assert_fail(message, file, line, "MINI_TODO");
    __builtin_unreachable();
#else
    ::mini::not_implemented(task, title);
#endif
}

}  // namespace mini::cuda

#undef MINI_TODO
#define MINI_TODO(task, title)                                                   \
    ::mini::cuda::not_implemented(task, title, "[" task "] not started: " title, \
                                  __FILE__, __LINE__)

#endif
