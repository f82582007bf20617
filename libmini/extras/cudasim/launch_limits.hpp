// The limits of one launch: CUDA does not start a kernel that exceeds one of them.
//
//     threads of a block      1024
//     shared memory           48 KiB for static and dynamic together; up to 163 KiB after
//                             cudaFuncSetAttribute, for dynamic only
//
// nvcc refuses kernels with too much static shared memory; here their launch fails.

#pragma once

#include <cstddef>
#include <string>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr size_t kSharedBytes = 48 * 1024;
constexpr size_t kSharedBytesOptin = 163 * 1024;  // of an A100

/// What is wrong with a launch: CUDA's error code, and the limit and the value.
struct LaunchError {
    cudaError_t code = cudaSuccess;
    std::string text;
};

/// Returns the first limit that a launch exceeds.
LaunchError check_limits(const Launch& launch);

/// Sets the kernel's limit of dynamic shared memory. Returns cudaErrorInvalidValue if the
/// sum with its __shared__ arrays exceeds kSharedBytesOptin.
cudaError_t set_dynamic_limit(const void* kernel, size_t bytes);

}  // namespace mini::sim
