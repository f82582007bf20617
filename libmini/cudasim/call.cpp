#include "libmini/cudasim/call.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace {

thread_local int device_of_thread = 0;
std::atomic<uint64_t> contexts = 0;  // a bit a device
thread_local cudaError_t last_error = cudaSuccess;
thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;

}  // namespace

namespace mini::sim {

void open_context() { contexts |= uint64_t{1} << device_of_thread; }

bool has_context(int device) { return (contexts >> device & 1) != 0; }

int current_device() {
    open_context();
    return device_of_thread;
}

cudaError_t report(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

StreamCall::StreamCall(cudaStream_t handle)
    : machine_(Machine::instance()), lock_(machine_.lock()) {
    open_context();
    if (device_count() == 0) {
        error_ = cudaErrorNoDevice;
        return;
    }
    stream_ = handle == nullptr ? machine_.legacy_stream(current_device())
                                : reinterpret_cast<Stream*>(handle);
    error_ = machine_.knows(stream_) ? machine_.fault(stream_->device).code
                                     : cudaErrorInvalidResourceHandle;
}

// The legacy stream would wait for streams that capture, and has no part in the capture.
cudaError_t StreamCall::error_if_implicit() {
    if (!stream_->legacy) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    for (const auto& capture : captures_on(stream_->device))
        if (std::any_of(capture->streams.begin(), capture->streams.end(),
                        [](const Stream* each) { return each->blocking; })) {
            capture->invalid = true;
            error = cudaErrorStreamCaptureImplicit;
        }
    return error;
}

cudaError_t StreamCall::error_if_captured() {
    if (error_ != cudaSuccess) return error_;
    if (stream_->capture != nullptr) {
        stream_->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    return error_if_implicit();
}

cudaError_t StreamCall::give(Job job) {
    if (error_ != cudaSuccess) return error_;
    if (const cudaError_t error = error_if_implicit(); error != cudaSuccess) return error;
    if (stream_->capture != nullptr) return capture_job(*stream_, std::move(job));
    machine_.submit(lock_, stream_, std::move(job));
    return cudaSuccess;
}

cudaError_t StreamCall::give_and_wait(Job job) {
    if (const cudaError_t error = error_if_captured(); error != cudaSuccess) return error;
    machine_.submit(lock_, stream_, std::move(job));
    return wait();
}

cudaError_t StreamCall::wait() {
    if (const cudaError_t error = error_if_captured(); error != cudaSuccess) return error;
    const int device = stream_->device;
    machine_.wait(lock_, stream_->last);
    return machine_.fault(device).code;
}

cudaError_t error_if_unseen() {
    return unseen_call_allowed(capture_mode) ? cudaSuccess
                                             : cudaErrorStreamCaptureUnsupported;
}

}  // namespace mini::sim

using mini::sim::report;

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDevice(int* device) {
    if (mini::sim::device_count() == 0) return report(cudaErrorNoDevice);
    *device = device_of_thread;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= mini::sim::device_count())
        return report(cudaErrorInvalidDevice);
    device_of_thread = device;
    mini::sim::open_context();
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    std::swap(*mode, capture_mode);
    return cudaSuccess;
}
