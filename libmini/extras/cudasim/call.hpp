// Helpers shared by the functions of the CUDA interface: the current device, the last
// error, and handle lookup.

#pragma once

#include <mutex>
#include <string>

#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/stream.hpp"
#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

/// The state of the CUDA interface that is local to a host thread.
struct HostThread {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaError_t explained = cudaSuccess;  // the error that `explanation` belongs to
    std::string explanation;              // replaces the error's general text
};
HostThread& host_thread();

/// Returns the device that this thread set with cudaSetDevice, 0 by default. Opens the
/// device's context.
int current_device();

/// Opens the context of the current device. Nearly every CUDA function without a device
/// argument calls this.
void open_context();

/// Returns whether this process has opened a device's context. Contexts cost nothing
/// here; on a GPU they cost memory.
bool has_context(int device);

/// Stores an error for cudaGetLastError, and returns it.
/// `explanation` is what cudaGetErrorString returns for it on this thread, until the
/// thread's next error; if it is empty, the error's general text is used.
cudaError_t report(cudaError_t error, const std::string& explanation = {});

/// Reports what body(machine, lock, device) returns for the current device, with the machine
/// locked; cudaErrorNoDevice if there is no device.
cudaError_t with_device(const auto& body) {
    if (device_count() == 0) return report(cudaErrorNoDevice);
    const int device = current_device();
    Machine& machine = Machine::instance();
    Machine::Lock lock = machine.lock();
    return report(body(machine, lock, device));
}

/// Locks the lock of a context's objects. A call that frees memory has it while it waits
/// for the device, and a call that destroys an event or a stream needs it: so it was seen
/// on an H100 (driver 580). Lock it before the machine.
std::unique_lock<std::mutex> lock_objects();

/// One call of the interface that takes a stream: locks the machine, looks the stream up,
/// and fails with the same error codes as CUDA.
class StreamCall {
  public:
    /// Looks up a stream. A null handle is the legacy default stream of the current
    /// device.
    explicit StreamCall(cudaStream_t handle);

    Machine& machine() { return machine_; }
    Machine::Lock& lock() { return lock_; }
    Stream& stream() { return *stream_; }

    /// Returns the error of the call if the handle is invalid or the device has failed,
    /// else cudaSuccess.
    cudaError_t error() const { return error_; }

    /// Submits an operation to the stream.
    cudaError_t give(Operation operation);

    /// Submits an operation to the stream, and blocks until it is done.
    cudaError_t give_and_wait(Operation operation);

    /// Blocks until the stream's work is done.
    cudaError_t wait();

  private:
    Machine& machine_;
    Machine::Lock lock_;
    Stream* stream_ = nullptr;
    cudaError_t error_ = cudaSuccess;
};

}  // namespace mini::sim
