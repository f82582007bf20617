// What tensors need of a GPU: its memory, copies, and the current stream.
//
// kernels/cuda implements these functions. A build without CUDA has no devices, and
// implements them by errors (no_gpu.cpp). This header does not include CUDA's headers, so
// that the whole library can use it.

#pragma once

#include <cstddef>
#include <string>

struct CUstream_st;
/// A stream of CUDA's, as CUDA's own headers declare it.
using cudaStream_t = CUstream_st*;

namespace mini::cuda {

/// Returns the number of devices, 0 if CUDA is not available (`torch.cuda.device_count`).
int device_count();

/// Returns a text with the number of devices, "this machine has 2 CUDA devices", or the
/// reason why there is no device.
std::string device_count_text();

/// Returns a device's name: "NVIDIA H100 ...", or "simulated device".
std::string device_name(int device);

/// Returns whether this process has made a CUDA call (`torch.cuda.is_initialized`). If
/// true, its forked child processes cannot use CUDA.
bool is_initialized();

/// Makes a device the calling thread's current device (`torch.cuda.set_device`).
void set_device(int device);

/// Makes a device the current device of this thread until the end of the scope. Switching
/// back does not open a device that was never used (cuda/contexts.hpp). Throws Error if
/// there is no such device.
class DeviceGuard {
  public:
    explicit DeviceGuard(int device);
    ~DeviceGuard();
    DeviceGuard(const DeviceGuard&) = delete;
    DeviceGuard& operator=(const DeviceGuard&) = delete;

  private:
    [[maybe_unused]] int before_ = 0;  // unused without GPUs
    [[maybe_unused]] bool changed_ = false;
};

/// Returns the stream of this thread's operations on a device: the default stream, unless
/// a StreamGuard has set another (`torch.cuda.current_stream`).
cudaStream_t current_stream(int device);

/// Blocks until all work of a device is done (`torch.cuda.synchronize`).
void synchronize(int device);

/// Returns device memory for work in `stream`, aligned to 512 bytes; null for 0 bytes.
/// Throws CudaError with the bytes requested, allocated, cached and free.
void* allocate(size_t bytes, int device, cudaStream_t stream);

/// Returns pinned memory: host memory that a device can access directly, so that copies
/// do not block the host (`torch.Tensor.pin_memory`). Returns null for 0 bytes.
void* allocate_pinned(size_t bytes);

/// Frees memory of allocate() or allocate_pinned(); other pointers and null are ignored.
/// Work that is already in the block's stream, copies of pinned memory, and work that was
/// recorded (record_stream of cuda/allocator.hpp) may still use the memory.
void deallocate(void* pointer) noexcept;

/// Returns whether `pointer` points into memory of allocate_pinned() that is not freed.
bool is_pinned(const void* pointer);

/// The device of host memory in copy_between().
constexpr int kHost = -1;

/// Copies bytes between the memory of two devices, or of a device and the host, on the
/// current stream of the source, or of the destination if the source is the host. Blocks
/// until the copy is done, except for a copy within one device and, with `non_blocking`,
/// a copy from or to pinned memory, which may be freed immediately after the call.
void copy_between(void* to, int to_device, const void* from, int from_device,
                  size_t bytes, bool non_blocking);

}  // namespace mini::cuda
