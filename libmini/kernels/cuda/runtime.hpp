// CUDA's handles as C++ values: devices, streams and events.
//
// No header of CUDA is needed here, so that the rest of the library can hold a stream.

#pragma once

#include <cstddef>
#include <string>

#include "libmini/kernels/cuda/errors.hpp"

struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

namespace mini::cuda {

/// The number of devices, 0 where there is none (`torch.cuda.device_count`).
int device_count();

/// How many there are, or why there is none: "this machine has 2 CUDA devices".
std::string device_count_text();

/// What this build's devices are: "NVIDIA H100 ...", or "simulated device".
std::string device_name(int device);

/// Blocks until all that was given to a device is done (`torch.cuda.synchronize`).
void synchronize(int device);

/// Makes a device this thread's current one, until the end of the scope. What was never used
/// is not opened by going back to it (contexts.hpp).
class DeviceGuard {
  public:
    explicit DeviceGuard(int device);
    ~DeviceGuard();
    DeviceGuard(const DeviceGuard&) = delete;
    DeviceGuard& operator=(const DeviceGuard&) = delete;

  private:
    int before_ = 0;
    bool changed_ = false;
};

/// A queue of work on one device, which runs in order (`torch.cuda.Stream`).
class Stream {
  public:
    explicit Stream(int device);

    /// Blocks until all given is done.
    ~Stream();
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&&) = delete;

    cudaStream_t get() const { return stream_; }
    int device() const { return device_; }

    /// Blocks until all given so far is done.
    void synchronize() const;

    /// Leaves the stream to what may never end: it is not destroyed, nor its handle given to
    /// another one.
    void abandon() noexcept { stream_ = nullptr; }

  private:
    cudaStream_t stream_ = nullptr;
    int device_ = 0;
};

/// A place in a stream, to be waited for (`torch.cuda.Event`).
class Event {
  public:
    /// With `timing`, elapsed times can be asked for.
    explicit Event(int device, bool timing = false);
    ~Event();
    Event(Event&& other) noexcept;
    Event& operator=(Event&&) = delete;

    void record(cudaStream_t stream);

    /// Whether all before the place is done.
    bool query() const;

    /// Blocks the host until then; makes a stream wait, without blocking the host.
    void synchronize() const;
    void wait(cudaStream_t stream) const;

    /// Milliseconds from `start` to this one. REQUIRES: both with timing, and done.
    float elapsed_since(const Event& start) const;

  private:
    cudaEvent_t event_ = nullptr;
    int device_ = 0;
};

/// The stream that this thread's operations on a device go to: the device's default stream
/// unless a StreamGuard says otherwise (`torch.cuda.current_stream`).
cudaStream_t current_stream(int device);

/// Whether what this is given goes into a graph (graph.hpp) and is not done.
bool is_capturing(cudaStream_t stream);

/// Makes a stream the current one of its device for this thread, until the end of the scope
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

/// Sets bytes of device memory, in a stream's order.
void set_bytes(void* to, int value, size_t bytes, cudaStream_t stream);

/// Blocks until all given to a stream so far is done.
void synchronize_stream(cudaStream_t stream);

}  // namespace mini::cuda
