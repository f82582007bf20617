// What the functions of the CUDA interface have in common: the current device, the last error,
// handles, and what a capture forbids.

#pragma once

#include "libmini/cudasim/stream.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

/// What the interface keeps for each thread of the host.
struct HostThread {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};
HostThread& host_thread();

/// What this thread set with cudaSetDevice, 0 at first. Opens its context.
int current_device();

/// What nearly every call does that is not told a device.
void open_context();

/// Whether this process has opened a device's context. Contexts cost nothing here; on a GPU they
/// cost memory.
bool has_context(int device);

/// Remembers an error for cudaGetLastError, and returns it.
cudaError_t report(cudaError_t error);

/// One call of the interface that has to do with a stream: takes the machine's lock, finds the
/// stream, and refuses where CUDA would.
class StreamCall {
  public:
    /// A null handle is the legacy default stream of the current device.
    explicit StreamCall(cudaStream_t handle);

    Machine& machine() { return machine_; }
    Machine::Lock& lock() { return lock_; }
    Stream& stream() { return *stream_; }

    /// Why the call cannot be: the handle is none, or the device has failed.
    cudaError_t error() const { return error_; }

    /// The same for a call that blocks or asks, which no capture may contain.
    cudaError_t error_if_captured();

    /// Gives a job to the stream, or to its capture.
    cudaError_t give(Job job);

    /// Gives a job to the stream, and blocks until it is done.
    cudaError_t give_and_wait(Job job);

    /// Blocks until the stream's work is done.
    cudaError_t wait();

  private:
    cudaError_t error_if_implicit();

    Machine& machine_;
    Machine::Lock lock_;
    Stream* stream_ = nullptr;
    cudaError_t error_ = cudaSuccess;
};

/// For a call that captures cannot see, such as cudaMalloc: why it cannot be.
/// REQUIRES: the machine's lock.
cudaError_t error_if_unseen();

}  // namespace mini::sim
