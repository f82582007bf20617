// CUDA's errors as exceptions that name the call.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::cuda {

/// What CUDA says of itself: names the call or the kernel, and the device.
class CudaError : public Error {
  public:
    using Error::Error;
};

/// Throws CudaError unless `code`, a cudaError_t, is success.
void check(int code, const char* call);
void check_launch(const void* kernel, int code);

/// The name and the description of `code`, a cudaError_t.
std::string error_text(int code);

}  // namespace mini::cuda
