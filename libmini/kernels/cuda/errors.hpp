// CUDA errors as exceptions that name the call.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::cuda {

/// An error reported by CUDA. The message names the call or the kernel, and the device.
class CudaError : public Error {
  public:
    using Error::Error;
};

/// Throws CudaError, which names `call`, unless `code`, a cudaError_t, is cudaSuccess.
void check(int code, const char* call);

/// Throws CudaError, which names `kernel`, unless `code`, a cudaError_t, is cudaSuccess.
void check_launch(const void* kernel, int code);

/// Returns the name and the description of `code`, a cudaError_t.
std::string error_text(int code);

}  // namespace mini::cuda
