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

/// Returns the name and the description of `code`, a cudaError_t. If the code means that a
/// kernel has failed, every later call on the device returns it too: then the text says
/// that the failed kernel is an earlier one, and how to find it.
std::string error_text(int code);

}  // namespace mini::cuda
