// The CUDA interface: the last error, and the error codes' names and texts. A device's lasting
// error has a text of its own, which says what failed and where.

#include <array>
#include <utility>

#include "libmini/cudasim/api.hpp"
#include "libmini/cudasim/call.hpp"
#include "libmini/cudasim/memory.hpp"

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
    MINI_ERROR(cudaErrorMemoryAllocation, "the device has not so much memory left"),
    MINI_ERROR(cudaErrorInvalidConfiguration, "no grid or block can be like this"),
    MINI_ERROR(cudaErrorInvalidMemcpyDirection, "no copy has this direction"),
    MINI_ERROR(cudaErrorInvalidDeviceFunction, "this is not a kernel"),
    MINI_ERROR(cudaErrorNoDevice, "there is no device"),
    MINI_ERROR(cudaErrorInvalidDevice, "there is no such device"),
    MINI_ERROR(cudaErrorInvalidResourceHandle,
               "no such stream or event, or it is another device's"),
    MINI_ERROR(cudaErrorIllegalState, "not in this state"),
    MINI_ERROR(cudaErrorNotReady, "work is still to be done"),
    MINI_ERROR(cudaErrorIllegalAddress, "a kernel used memory that is not its device's"),
    MINI_ERROR(cudaErrorLaunchFailure, "a kernel failed"),
    MINI_ERROR(cudaErrorStreamCaptureUnsupported,
               "not allowed while a stream is being captured"),
    MINI_ERROR(cudaErrorStreamCaptureInvalidated, "an earlier error spoilt the capture"),
    MINI_ERROR(cudaErrorStreamCaptureMerge, "two captures would become one"),
    MINI_ERROR(cudaErrorStreamCaptureUnmatched,
               "the capture did not begin in this stream"),
    MINI_ERROR(cudaErrorStreamCaptureUnjoined,
               "a stream that joined the capture was not waited for"),
    MINI_ERROR(cudaErrorStreamCaptureIsolation,
               "work that is captured would wait for work that is not"),
    MINI_ERROR(cudaErrorStreamCaptureImplicit,
               "the legacy default stream would wait for work that is captured"),
    MINI_ERROR(cudaErrorCapturedEvent, "the event was recorded by a capture"),
    MINI_ERROR(cudaErrorStreamCaptureWrongThread, "another thread began the capture"),
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
    if (error != cudaSuccess && mini::sim::device_count() > 0) {
        Machine& machine = Machine::instance();
        const Machine::Lock lock = machine.lock();
        const mini::sim::Fault& fault = machine.fault(mini::sim::current_device());
        if (fault.code == error && fault.message != nullptr) return fault.message;
    }
    return text_of(error).text;
}
