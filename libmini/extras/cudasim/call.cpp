#include "libmini/extras/cudasim/call.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

#include "libmini/extras/cudasim/memory.hpp"

namespace mini::sim {
namespace {

std::atomic<uint64_t> contexts = 0;  // bit i: the context of device i is open

}  // namespace

HostThread& host_thread() {
    thread_local HostThread mine;
    return mine;
}

std::unique_lock<std::mutex> lock_objects() {
    static auto* const mutex = new std::mutex;  // threads may outlive main
    return std::unique_lock(*mutex);
}

void open_context() { contexts |= uint64_t{1} << host_thread().device; }

bool has_context(int device) { return (contexts >> device & 1) != 0; }

int current_device() {
    open_context();
    return host_thread().device;
}

cudaError_t report(cudaError_t error, const std::string& explanation) {
    if (error == cudaSuccess) return error;
    HostThread& thread = host_thread();
    thread.last_error = thread.explained = error;
    thread.explanation = explanation;
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

cudaError_t StreamCall::give(Operation operation) {
    if (error_ != cudaSuccess) return error_;
    machine_.submit(lock_, stream_, std::move(operation));
    return cudaSuccess;
}

cudaError_t StreamCall::give_and_wait(Operation operation) {
    if (error_ != cudaSuccess) return error_;
    machine_.submit(lock_, stream_, std::move(operation));
    return wait();
}

cudaError_t StreamCall::wait() {
    if (error_ != cudaSuccess) return error_;
    const int device = stream_->device;
    machine_.wait(lock_, stream_->last);
    return machine_.fault(device).code;
}

}  // namespace mini::sim
