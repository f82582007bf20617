// Storage: the memory of one or more tensors.
//
// Views share a storage. The storage's version counts in-place changes, so that the
// autograd engine detects when a value that a gradient needs has been overwritten.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "libmini/tensor/device.hpp"

namespace mini {

/// The kind of host memory. A GPU copies to and from pinned memory asynchronously,
/// without blocking the host (`pin_memory`).
enum class HostMemory { kPageable, kPinned };

/// The memory of one or more tensors, on one device (`torch.UntypedStorage`).
class Storage {
  public:
    /// Allocates `bytes` bytes, aligned to 64 bytes, contents unspecified. `memory`
    /// applies to the CPU only. Throws Error when memory is exhausted, when the device
    /// does not exist, or for pinned memory in a build without CUDA.
    Storage(size_t bytes, Device device, HostMemory memory = HostMemory::kPageable);
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    /// Frees the memory, and allocates it again, with unspecified contents
    /// (`UntypedStorage.resize_(0)` and back). The tensors of this storage keep their
    /// shapes. REQUIRES: no access to the elements between free() and allocate(); and in
    /// free(), none by another thread. allocate() has no effect if there is memory.
    void free();
    void allocate();

    /// Copies the contents to `memory`, and keeps them there until free(). REQUIRES: CPU;
    /// `memory` has bytes() bytes, aligned to 64; no access by another thread.
    void move_to(std::shared_ptr<std::byte> memory);

    /// Returns null if the memory is freed, or if bytes() is 0.
    std::byte* data() { return data_; }
    size_t bytes() const { return bytes_; }
    Device device() const { return device_; }

    /// Returns whether the memory is pinned host memory; false for freed memory and for 0
    /// bytes (`UntypedStorage.is_pinned`).
    bool is_pinned() const;

    /// Returns the number of in-place changes of the contents.
    uint64_t version() const { return version_.load(std::memory_order_relaxed); }
    void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

    /// Sets the number, when the contents are again those that had it: memory that was
    /// freed has been filled with the same values.
    void set_version(uint64_t version) {
        version_.store(version, std::memory_order_relaxed);
    }

  private:
    std::byte* data_ = nullptr;
    size_t bytes_ = 0;
    Device device_;
    HostMemory memory_;
    std::shared_ptr<std::byte> moved_to_;  // null: the storage's own memory
    std::atomic<uint64_t> version_ = 0;
};

/// Copies bytes between any two devices. Blocks until the copy has completed, except for
/// a copy that is only enqueued on the GPU's current stream: a copy within one GPU and,
/// with `non_blocking`, a copy between a GPU and pinned memory (allocate_pinned). Then
/// the pinned memory may be freed immediately; but its contents must not be changed, or
/// read if they are the result, before the stream has completed the copy.
void copy_bytes(std::byte* to, Device to_device, const std::byte* from,
                Device from_device, size_t bytes, bool non_blocking = false);

}  // namespace mini
