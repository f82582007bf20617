#include "libmini/kernels/cuda/errors.hpp"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace mini::cuda {
namespace {

// Throws CudaError with CUDA's error text, and clears CUDA's last error, so that the next
// call does not report it again.
[[noreturn]] void fail(int code, const std::string& call) {
    int device = 0;
    const bool known = cudaGetDevice(&device) == cudaSuccess;  // false without a driver
    cudaGetLastError();
    throw CudaError(call, known ? concat(" on device ", device) : "", ": ",
                    error_text(code));
}

// Returns the kernel's demangled name, its symbol, or "kernel" if the symbol is unknown.
std::string kernel_name(const void* kernel) {
    const char* symbol = nullptr;
    if (cudaFuncGetName(&symbol, kernel) != cudaSuccess || symbol == nullptr)
        return "kernel";
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    return name ? name.get() : symbol;
}

// Returns whether `error` is the failure of a kernel, which all later calls on the device
// return too (CUDA: "sticky" errors).
bool is_of_a_kernel(cudaError_t error) {
    return error == cudaErrorIllegalAddress || error == cudaErrorLaunchTimeout ||
           error == cudaErrorAssert ||
           (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure);
}

}  // namespace

std::string error_text(int code) {
    const auto error = static_cast<cudaError_t>(code);
    const std::string text =
        concat(cudaGetErrorName(error), ", ", cudaGetErrorString(error));
    if (!is_of_a_kernel(error)) return text;
    return concat(text,
                  "; a kernel that was launched earlier on this device has failed: to "
                  "find it, run again with CUDA_LAUNCH_BLOCKING=1, which makes the "
                  "failing launch report the error, or under compute-sanitizer");
}

void check(int code, const char* call) {
    if (code != cudaSuccess) fail(code, call);
}

void check_launch(const void* kernel, int code) {
    if (code != cudaSuccess) fail(code, concat("launch of ", kernel_name(kernel)));
}

}  // namespace mini::cuda
