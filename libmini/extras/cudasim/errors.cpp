// The CUDA interface: the last error, and the names and texts of the error codes. A
// device's sticky error has its own text, which reports what failed and where.

#include <array>
#include <utility>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/call.hpp"
#include "libmini/extras/cudasim/memory.hpp"

namespace {

struct ErrorText {
    cudaError_t code;
    const char* name;
    const char* text;
};

#define MINI_ERROR(name, text) \
    ErrorText { name, #name, text }

constexpr std::array kErrors = {
    MINI_ERROR(cudaSuccess, "no error"),
    MINI_ERROR(cudaErrorInvalidValue, "an argument is not valid"),
    MINI_ERROR(cudaErrorMemoryAllocation, "the device is out of memory"),
    MINI_ERROR(cudaErrorInvalidConfiguration, "the grid or block dimensions are invalid"),
    MINI_ERROR(cudaErrorInvalidMemcpyDirection, "the direction of the copy is invalid"),
    MINI_ERROR(cudaErrorInvalidDeviceFunction, "this is not a kernel"),
    MINI_ERROR(cudaErrorNoDevice, "no device was found"),
    MINI_ERROR(cudaErrorInvalidDevice, "the device index is invalid"),
    MINI_ERROR(cudaErrorInvalidResourceHandle,
               "the stream or event does not exist, or belongs to another device"),
    MINI_ERROR(cudaErrorNotReady, "the work is not done yet"),
    MINI_ERROR(cudaErrorIllegalAddress, "a kernel accessed an illegal address"),
    MINI_ERROR(cudaErrorPeerAccessAlreadyEnabled,
               "the access to this peer is enabled already"),
    MINI_ERROR(cudaErrorLaunchFailure, "a kernel failed"),
    MINI_ERROR(cudaErrorUnknown, "an unknown error"),
};

const ErrorText& text_of(cudaError_t error) {
    for (const ErrorText& each : kErrors)
        if (each.code == error) return each;
    return kErrors.back();
}

}  // namespace

cudaError_t cudaGetLastError() {
    return std::exchange(mini::sim::host_thread().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return mini::sim::host_thread().last_error; }

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }

const char* cudaGetErrorString(cudaError_t error) {
    using mini::sim::Machine;
    const mini::sim::HostThread& thread = mini::sim::host_thread();
    if (error == thread.explained && !thread.explanation.empty())
        return thread.explanation.c_str();
    if (error != cudaSuccess && mini::sim::device_count() > 0) {
        Machine& machine = Machine::instance();
        const Machine::Lock lock = machine.lock();
        const mini::sim::Fault& fault = machine.fault(mini::sim::current_device());
        if (fault.code == error && fault.message != nullptr) return fault.message;
    }
    return text_of(error).text;
}
