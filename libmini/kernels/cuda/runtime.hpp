// CUDA handles as C++ objects: streams and events. gpu.hpp declares more functions of
// devices.
//
// This header does not include CUDA's headers, so that the rest of the library can use
// it.

#pragma once

#include <cstddef>
#include <string>

#include "libmini/kernels/cuda/errors.hpp"
#include "libmini/kernels/gpu.hpp"

struct CUevent_st;
using cudaEvent_t = CUevent_st*;

namespace mini::cuda {

/// A queue of work on one device, executed in order (`torch.cuda.Stream`).
class Stream {
  public:
    explicit Stream(int device);

    /// Blocks until all work of the stream is done.
    ~Stream();
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&&) = delete;

    cudaStream_t get() const { return stream_; }
    int device() const { return device_; }

    /// Blocks until all work added so far is done.
    void synchronize() const;

    /// Gives up a stream whose work may never end: the stream is not destroyed, so that
    /// CUDA does not reuse its handle for another stream.
    void abandon() noexcept { stream_ = nullptr; }

  private:
    cudaStream_t stream_ = nullptr;
    int device_ = 0;
};

/// A position in a stream that can be waited for (`torch.cuda.Event`).
class Event {
  public:
    explicit Event(int device);
    ~Event();
    Event(Event&& other) noexcept;
    Event& operator=(Event&&) = delete;

    /// Records the event in a stream: its position is after all work added so far.
    void record(cudaStream_t stream);

    /// Returns whether all work before the recorded position is done.
    bool query() const;

    /// Blocks the host until all work before the recorded position is done.
    void synchronize() const;

    /// Makes a stream wait for the recorded position, without blocking the host.
    void wait(cudaStream_t stream) const;

  private:
    cudaEvent_t event_ = nullptr;
    int device_ = 0;
};

/// Makes a stream this thread's current stream of its device until the end of the scope
/// (`torch.cuda.stream`).
class StreamGuard {
  public:
    StreamGuard(int device, cudaStream_t stream);
    explicit StreamGuard(const Stream& stream)
        : StreamGuard(stream.device(), stream.get()) {}
    ~StreamGuard();
    StreamGuard(const StreamGuard&) = delete;
    StreamGuard& operator=(const StreamGuard&) = delete;

  private:
    int device_ = 0;
    cudaStream_t before_ = nullptr;
};

/// Returns the text of nvidia-smi -L that identifies a device: "GPU-" and 32 hexadecimal
/// digits in groups of 8, 4, 4, 4 and 12.
std::string device_uuid(int device);

/// Copies bytes between any two addresses, host or device, in stream order. Blocks only
/// if cudaMemcpyAsync blocks: for host memory that is not pinned. Pinned memory may be
/// freed immediately after the call. REQUIRES: with pinned memory, the stream is one of
/// the current device.
void copy(void* to, const void* from, size_t bytes, cudaStream_t stream);

/// Sets bytes of device memory, in stream order.
void set_bytes(void* to, int value, size_t bytes, cudaStream_t stream);

/// Blocks until all work added to a stream so far is done.
void synchronize_stream(cudaStream_t stream);

}  // namespace mini::cuda
